import * as z from 'zod'
import { lmsKinds, recordParts } from './constants.ts'
import { field, named, shown } from './fields.ts'

export const LmsKind = named('LmsKind', 'Kind of the other learning management system', z.enum(lmsKinds))

export const RecordPart = named('RecordPart', 'Kind of the records', z.enum(recordParts))

const ForeignRecord = shown(() => ({
  part: field(RecordPart, 'Kind of the record'),
  id: field(
    z.string().nullable(),
    'Id in the other system, by which records refer to it (own:<id>); null if nothing refers to it',
  ),
  record: field(
    z.record(z.string(), z.unknown()),
    'Its fields, as rosters have them; references are ext:<externalId> or own:<id>',
  ),
}))

const ForeignNote = shown(() => ({
  text: field(z.string().max(10_000), 'What was left out or is not visible'),
  count: field(z.int(), 'Number of such records'),
  hides: field(RecordPart.nullable(), 'Kind of the records that are not visible; null if none are hidden'),
}))

const ForeignList = shown(() => ({
  part: field(RecordPart, 'Kind of the records'),
  of: field(
    z.enum(['courses', 'groups', 'users']).nullable(),
    'Whether there is a list for each course, group or user; null for one list of the whole system',
  ),
  gives: field(z.array(RecordPart).max(10), 'Further kinds of records that its pages have'),
}))

export const ForeignRecords = named(
  'ForeignRecords',
  'A page of records of another learning management system',
  shown(() => ({
    lmsKind: field(LmsKind, 'Kind of the other system'),
    system: field(z.string().max(100), 'Name of the other system'),
    // Some systems list everything on one page.
    data: field(z.array(ForeignRecord).max(1_000_000), 'The records'),
    nextCursor: field(z.string().nullable(), 'Cursor of the next page; null after the last one'),
    byCourse: field(z.boolean(), 'Whether the access token may list these records for each course only'),
    requestsAtOnce: field(z.int(), 'Requests that the other system allows at once now'),
    lists: field(z.array(ForeignList).max(100), 'Lists that the other system has'),
    notes: field(z.array(ForeignNote).max(10_000), 'What was left out or is not visible'),
  })),
)
export type ForeignRecords = z.output<typeof ForeignRecords>
