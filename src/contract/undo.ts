import * as z from 'zod'
import { nouns } from './actions.ts'
import { field, named, sent, shown } from './fields.ts'
import { operationsOf, teachers } from './operation.ts'
import { text } from './values.ts'

/** The whole plan is held in memory. */
export const maxUndoneRecords = 200_000
/** For one transaction, for which others wait: about half a second. */
const maxUndoWrites = 2_000

const UndoneField = named(
  'UndoneField',
  'A field that an undo changes back',
  shown(() => ({
    field: field(z.string().max(100), 'Name of the field'),
    from: field(z.unknown(), 'Present value'),
    to: field(z.unknown(), 'Former value'),
  })),
)

export type UndoneField = z.output<typeof UndoneField>

const UndoneRecord = named(
  'UndoneRecord',
  'What an undo does to a record',
  shown(() => ({
    action: field(
      z.enum(['create', 'update', 'delete']),
      'create brings a deleted record back, update changes fields back, delete removes a created record',
    ),
    noun: field(z.enum(nouns), 'Type of the record'),
    id: field(z.string(), 'Id of the record'),
    name: field(z.string().max(1024), 'What it was called last'),
    fields: field(z.array(UndoneField).max(100), 'Fields that change'),
  })),
)
export type UndoneRecord = z.output<typeof UndoneRecord>

const KeptRecord = named(
  'KeptRecord',
  'A record, or fields of one, that an undo leaves as they are',
  shown(() => ({
    noun: field(z.enum(nouns), 'Type of the record'),
    id: field(z.string(), 'Id of the record'),
    name: field(z.string().max(1024), 'What it was called last'),
    fields: field(z.array(z.string().max(100)).max(100), 'The fields; empty for the whole record'),
    reason: field(z.string().max(200), 'Why, after "which": was changed since'),
  })),
)

export type KeptRecord = z.output<typeof KeptRecord>

export const UndoPlan = named(
  'UndoPlan',
  'What an undo would do',
  shown(() => ({
    digest: field(z.string().length(64), 'Names the plan; it changes when a record of it changes'),
    actions: field(z.array(UndoneRecord).max(maxUndoneRecords), 'What is done'),
    kept: field(z.array(KeptRecord).max(maxUndoneRecords), 'What stays as it is'),
    lasting: field(z.array(z.string().max(2000)).max(500), 'What else cannot be taken back, as sentences'),
    done: field(z.int().min(0), 'Number of records that are as before already'),
    continues: field(
      z.array(z.string().max(64)).max(10_000),
      'Ids of earlier undos that did not complete, oldest first',
    ),
  })),
)
export type UndoPlan = z.output<typeof UndoPlan>

export const UndoInput = named(
  'UndoInput',
  'A plan to carry out',
  sent({
    digest: field(text(1, 100), 'Digest of the plan: if it is another one now, nothing is done'),
    continues: field(
      z.string().min(1).max(64).nullable().default(null),
      'Id of the undo to go on with, after an answer with isComplete false; then the digest is not compared',
    ),
    limit: field(
      z.int().min(1).max(maxUndoWrites).default(maxUndoWrites),
      'Maximum writes of this request, which are one transaction',
    ),
  }),
)

const UndoFailure = named(
  'UndoFailure',
  'A record that an undo could not change',
  shown(() => ({
    action: field(z.enum(['create', 'update', 'delete']), 'What was to be done'),
    noun: field(z.enum(nouns), 'Type of the record'),
    id: field(z.string(), 'Id of the record'),
    name: field(z.string().max(1024), 'What it was called last'),
    code: field(z.string(), 'Error code'),
    message: field(z.string().max(10_000), 'Why, as a sentence'),
  })),
)
export type UndoFailure = z.output<typeof UndoFailure>

export const Undone = named(
  'Undone',
  'What an undo did',
  shown(() => ({
    change: field(
      z.string().max(64).nullable(),
      'Id of the change that it is itself; null if there was nothing to do',
    ),
    isComplete: field(z.boolean(), 'False if records are left: send the request again, with this change'),
    failed: field(z.array(UndoFailure).max(maxUndoWrites), 'Records that were refused'),
  })),
)
export type Undone = z.output<typeof Undone>

/** Admins undo every change, others their own. */
export const undo = operationsOf('undo', {
  plan: {
    at: 'GET /v1/undo/{changeId}',
    summary: 'Show what undoing a change would do',
    roles: teachers,
    response: UndoPlan,
    report: true,
  },
  carryOut: {
    at: 'POST /v1/undo/{changeId}',
    summary: 'Restore what was there before a change',
    roles: teachers,
    body: UndoInput,
    response: Undone,
    status: 200,
    report: true,
  },
})
