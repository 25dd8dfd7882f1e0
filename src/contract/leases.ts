import * as z from 'zod'
import { answered, field, named, sent, shown } from './fields.ts'
import { operationsOf, teachers } from './operation.ts'
import { Time, text } from './values.ts'

const attributes = {
  id: field(
    z.string().regex(/^[\w-]{16,64}$/),
    'Random id that the client chooses for the lease; the same id renews it',
  ),
  holder: field(text(1, 255), 'What applies, such as the host and the process, for others who wait'),
}

export const LeaseInput = named('LeaseInput', 'Who takes the apply lease', sent(attributes))
export type LeaseInput = z.output<typeof LeaseInput>

export const Lease = named(
  'Lease',
  'The apply lease',
  shown(() => ({
    ...answered(attributes),
    userId: field(z.string(), 'Id of the user who applies'),
    userEmail: field(z.string(), 'E-mail address of that user as it is now'),
    takenAt: field(
      Time,
      'When the lease was taken; another value in a later response means that it was lost in between',
    ),
    expiresAt: field(Time, 'When the lease ends unless it is renewed'),
  })),
)
export type Lease = z.output<typeof Lease>

/** An academy takes one apply at a time. */
export const leases = operationsOf('leases', {
  take: {
    at: 'PUT /v1/apply-lease',
    summary: 'Create or renew the apply lease',
    roles: teachers,
    body: LeaseInput,
    response: Lease,
  },
  release: {
    at: 'DELETE /v1/apply-lease/{leaseId}',
    summary: 'Delete the apply lease',
    roles: teachers,
    response: null,
  },
})
