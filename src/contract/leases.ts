import * as z from 'zod'
import { Time, text } from './field.ts'
import { operation, teachers } from './operation.ts'

export const LeaseInput = z.strictObject({
  id: z.string().regex(/^[\w-]{16,64}$/),
  holder: text(1, 255),
})
export type LeaseInput = z.output<typeof LeaseInput>

export const Lease = z.object({
  id: z.string(),
  holder: z.string(),
  userId: z.string(),
  userEmail: z.string(),
  takenAt: Time,
  expiresAt: Time,
})
export type Lease = z.output<typeof Lease>

/** The lease of an apply: an academy takes one apply at a time. */
export const leases = {
  take: operation({
    id: 'leases.take',
    method: 'PUT',
    path: '/v1/apply-lease',
    summary: 'Create or renew the apply lease',
    published: false,
    scope: 'write',
    roles: teachers,
    body: LeaseInput,
    response: Lease,
    status: 200,
  }),
  release: operation({
    id: 'leases.release',
    method: 'DELETE',
    path: '/v1/apply-lease/{leaseId}',
    summary: 'Delete the apply lease',
    published: false,
    scope: 'write',
    roles: teachers,
    response: null,
    status: 204,
  }),
}
