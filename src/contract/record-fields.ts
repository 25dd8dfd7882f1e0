import * as z from 'zod'
import { type Field, field, shown } from './fields.ts'
import { ExternalId, ManagedBy, Time } from './values.ts'

/** A field of responses that is text or null. */
export function textOrNull(says: string) {
  return field(z.string().nullable(), says)
}

/** A field of responses that is a time or null. */
export function timeOrNull(says: string) {
  return field(Time.nullable(), says)
}

export function externalId(noun: string): Field<typeof ExternalId> {
  return {
    is: ExternalId,
    says: 'Your own id for this record, such as the one in your student information system; unique per type',
    label: `Your own id for the ${noun}`,
    foreign: true,
  }
}

export const managedBy: Field<typeof ManagedBy> = {
  is: ManagedBy,
  says: 'External system that manages this record',
  foreign: true,
}

export const version = field(
  z.int(),
  'Number of changes of this record, from 1; also the ETag of the response',
)
export const updatedAt = field(Time, 'When the record was last changed')

export const changed = { version, createdAt: field(Time, 'When the record was created'), updatedAt }

/** Each history adds the id of its record. */
export const versionFields = {
  version: field(z.int(), 'Number of the version, from 1'),
  createdAt: field(Time, 'When the version was made'),
  userId: field(z.string(), 'User who made the version'),
  userEmail: field(z.string().nullable(), 'E-mail address of that user as it is now'),
  modifiedAttributes: field(
    z.array(z.string()),
    'Names of the attributes that differ from the version before',
  ),
}

export function takenExternalId<Shown extends Field>(shown: Shown, noun: string): Shown {
  return {
    ...shown,
    says: `Your own id for the ${noun}; it stays taken until the ${noun} is deleted permanently`,
  }
}

/** Fields of every deleted record: actor, time, and the end of the time in which it can be restored. */
export const deletedFields = {
  userId: field(z.string(), 'User who deleted it'),
  deletedAt: field(Time, 'When it was deleted'),
  restorableUntil: field(
    Time,
    'Until when it can be restored, 30 days after it was deleted; then it is deleted permanently',
  ),
}

/** `example` is a changed path; arrays are one entry. */
function changesLike(example: string) {
  return z.array(
    shown(() => ({
      pointer: field(z.string(), `JSON Pointer (RFC 6901) into the attributes, such as ${example}`),
      from: field(z.unknown(), 'Value in the version on the left; absent if it has none'),
      to: field(z.unknown(), 'Value in the version on the right; absent if it has none'),
    })),
  )
}
export type Changes = z.output<ReturnType<typeof changesLike>>

export function diffFields(example: string) {
  return {
    from: field(z.int(), 'Version on the left of the comparison'),
    to: field(z.int(), 'Version on the right of the comparison'),
    changes: field(changesLike(example), 'One entry for each place that differs; lists differ as a whole'),
  }
}

export const CompareTo = z.coerce
  .number()
  .int()
  .min(1)
  .optional()
  .meta({ description: 'Version to compare with (default the newest)' })
