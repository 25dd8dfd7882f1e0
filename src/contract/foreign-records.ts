import * as z from 'zod'
import { lmsKinds, recordParts } from './constants.ts'
import { field, named, sent, shown } from './fields.ts'
import { textOrNull } from './record-fields.ts'
import { optional, text } from './values.ts'

export const LmsKind = named('LmsKind', 'Kind of the other learning management system', z.enum(lmsKinds))

export const RecordPart = named('RecordPart', 'Kind of the records', z.enum(recordParts))

const ForeignRecord = shown(() => ({
  part: field(RecordPart, 'Kind of the record'),
  id: textOrNull(
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
    nextCursor: textOrNull('Cursor of the next page; null after the last one'),
    byCourse: field(z.boolean(), 'Whether the access token may list these records for each course only'),
    requestsAtOnce: field(z.int(), 'Requests that the other system allows at once now'),
    lists: field(z.array(ForeignList).max(100), 'Lists that the other system has'),
    notes: field(z.array(ForeignNote).max(10_000), 'What was left out or is not visible'),
  })),
)
export type ForeignRecords = z.output<typeof ForeignRecords>

export const writtenParts = ['courses', 'enrollments', 'items', 'grades'] as const

/** Each takes one to three requests to the other system. */
export const maxWrites = 20

// Ids become parts of paths of the other system.
const id = optional(text(1, 255).regex(/[^.]/))
const score = optional(z.number().min(0).max(1_000_000))

export const ForeignWrite = named(
  'ForeignWrite',
  'A record as another learning management system shall have it',
  sent({
    part: field(z.enum(writtenParts), 'Kind of the record: it decides which of the other fields count'),
    id: field(id, 'Id of the course, item or grade in the other system; null to create a course or an item'),
    courseId: field(id, 'Id in the other system of the course of the record'),
    externalId: field(
      optional(text(1, 255)),
      'Your id of a new course: it becomes its alias, so that the course is created once',
    ),
    title: field(optional(text(1, 750)), 'Title of the course'),
    description: field(optional(text(0, 30_000)), 'Description of the course'),
    status: field(optional(z.enum(['draft', 'published', 'archived'])), 'Status of the course'),
    email: field(optional(text(3, 254)), 'E-mail address of the person to enrol'),
    role: field(optional(z.enum(['learner', 'instructor'])), 'Role in the course'),
    label: field(optional(text(1, 3000)), 'Title of the item'),
    scoreMaximum: field(score, 'Maximum score of the item'),
    itemId: field(id, 'Id in the other system of the item of the grade'),
    scoreGiven: field(score, 'Score; null to remove it'),
    published: field(z.boolean().default(true), 'Whether the learner sees the score'),
    returned: field(z.boolean().default(false), 'Whether the work is returned to the learner with the score'),
  }),
)
export type ForeignWrite = z.output<typeof ForeignWrite>

export const ForeignWrites = named(
  'ForeignWrites',
  'Records to write to another learning management system',
  sent({
    records: field(z.array(ForeignWrite).min(1).max(maxWrites), 'The records, in the order of the results'),
  }),
)

const outcomes = ['created', 'updated', 'unchanged', 'invited', 'refused', 'waiting'] as const

const Written = shown(() => ({
  index: field(z.int(), 'Index of the record in the request, from 0'),
  outcome: field(
    z.enum(outcomes),
    'What became of it; invited: the person has to accept; waiting: send it again, nothing is done twice',
  ),
  id: textOrNull('Its id in the other system; null if there is none'),
  detail: textOrNull('Why it was refused or has to wait, or what is left to do'),
}))

/** In the order of the records. */
export const ForeignWriteResult = named(
  'ForeignWriteResult',
  'What became of the records: one result for each, in the same order',
  shown(() => ({
    lmsKind: field(LmsKind, 'Kind of the other system'),
    results: field(z.array(Written), 'One result for each record'),
    retryAfter: field(z.int(), 'Seconds to wait before waiting records are sent again; 0 if none wait'),
  })),
)
export type ForeignWriteResult = z.output<typeof ForeignWriteResult>
