import * as z from 'zod'
import { isDay } from '../codec/time-text.ts'
import { batchOf } from './batch.ts'
import { answered, field, named, patchOf, sent, shown } from './fields.ts'
import { exactly, listOf, paging, periodAndUpdates, sorting } from './lists.ts'
import { admins, everyone, operationsOf } from './operation.ts'
import { changed, externalId, managedBy } from './record-fields.ts'
import { optional, text } from './values.ts'

/** Without a time: a term begins and ends with a day, wherever its learners are. */
const Day = z
  .string()
  .meta({ format: 'date' })
  .refine(isDay, { params: { code: 'invalid_day' }, error: 'must be a day that exists, such as 2026-01-31' })

const attributes = {
  externalId: externalId('term'),
  name: field(text(1, 255), 'Name of the term, such as Spring 2027', 'Name'),
  startDate: field(optional(Day), 'First day of the term, YYYY-MM-DD; null if it is open', 'First day'),
  endDate: field(optional(Day), 'Last day of the term, YYYY-MM-DD; null if it is open', 'Last day'),
  managedBy,
}

export const TermInput = named(
  'TermInput',
  'The attributes of a new term',
  sent(attributes, (object) =>
    object.superRefine(({ startDate, endDate }, context) => {
      if (!startDate || !endDate || startDate <= endDate) return
      context.addIssue({
        code: 'custom',
        path: ['startDate'],
        params: { code: 'out_of_order' },
        message: `must not be after endDate (${endDate})`,
      })
    }),
  ),
)
export type TermInput = z.output<typeof TermInput>

export const TermPatch = named(
  'TermPatch',
  'A merge patch of a term (RFC 7396): absent attributes are left unchanged, null resets one to its default',
  patchOf(TermInput),
)

export const Term = named(
  'Term',
  'A term: a semester, a quarter or a school year, which courses belong to',
  shown(() => ({ id: field(z.string(), 'Id of the term, trm_…'), ...answered(attributes), ...changed })),
)
export type Term = z.output<typeof Term>

export const terms = operationsOf('terms', {
  list: {
    at: 'GET /v1/terms',
    summary: 'List terms',
    roles: everyone,
    query: z.strictObject({
      name: exactly('name', 'name'),
      external_id: exactly('external id', 'externalId'),
      managed_by: exactly('the system that manages them', 'managedBy'),
      ...periodAndUpdates('Created', 'createdAt'),
      sort: sorting(['createdAt', 'updatedAt', 'name', 'startDate'], '-createdAt'),
      ...paging,
    }),
    ...listOf(Term, 'terms'),
  },
  get: {
    at: 'GET /v1/terms/{termId}',
    summary: 'Show a term',
    roles: everyone,
    response: Term,
  },
  create: {
    at: 'POST /v1/terms',
    summary: 'Create a term',
    roles: admins,
    body: TermInput,
    response: Term,
  },
  batch: {
    at: 'POST /v1/terms/batch',
    summary: 'Create or update up to 1,000 terms',
    roles: admins,
    ...batchOf(TermInput, 'fail', 'TermBatch'),
  },
  update: {
    at: 'PUT /v1/terms/{termId}',
    summary: 'Update a term',
    roles: admins,
    body: TermPatch,
    merge: true,
    response: Term,
  },
  delete: {
    at: 'DELETE /v1/terms/{termId}',
    summary: 'Delete a term that has no courses',
    roles: admins,
    response: null,
  },
})
