import * as z from 'zod'
import { type Action, actions, nouns } from './actions.ts'
import { answered, field, named, sent, shown } from './fields.ts'
import { listOf, ofUserOrEmail, paging, period, sorting } from './lists.ts'
import { operationsOf, teachers } from './operation.ts'
import { textOrNull, timeOrNull } from './record-fields.ts'
import { Time, text } from './values.ts'

/** How a change ended; `running` until its client says so. */
const changeStates = ['running', 'completed', 'partial', 'failed', 'interrupted'] as const
const [, ...endStates] = changeStates

const allActions = actions as readonly Action[] as readonly [Action, ...Action[]]

const attributes = {
  command: field(text(1, 100), 'What makes the change, such as users import'),
  source: field(
    text(1, 255).nullable().default(null),
    'What it is made from, such as the name of a file; null if there is none',
  ),
  undoes: field(
    z.string().min(1).max(64).nullable().default(null),
    'Id of the change that this one undoes; null if it undoes none',
  ),
}

const ChangeInput = named('ChangeInput', 'What makes a change', sent(attributes))

export const ChangeEnd = named(
  'ChangeEnd',
  'How a change ended',
  sent({
    state: field(
      z.enum(endStates),
      'completed; partial if some records were refused; failed or interrupted if it ended early',
    ),
  }),
)

const ChangeCount = named(
  'ChangeCount',
  'The number of records that a change did something to',
  shown(() => ({
    noun: field(z.enum(nouns), 'Type of the records'),
    action: field(z.enum(allActions), 'What was done to them'),
    count: field(z.int().min(0), 'Number of times'),
  })),
)
export type ChangeCount = z.output<typeof ChangeCount>

export const Change = named(
  'Change',
  'A change of many records that belong together, such as an import',
  shown(() => ({
    id: field(z.string(), 'Id of the change, chg_…'),
    ...answered(attributes),
    state: field(z.enum(changeStates), 'running until its client reports how it ended'),
    userId: field(z.string(), 'Id of the user who made it'),
    userEmail: field(z.string(), 'E-mail address of that user as it is now'),
    counts: field(z.array(ChangeCount), 'What was done, by action; empty if nothing was changed'),
    undoneBy: textOrNull('Id of the last change that has undone something of this one; null if none has'),
    undoableUntil: field(Time, 'When its undoing is no longer supported: 30 days after it began'),
    createdAt: field(Time, 'When it began'),
    endedAt: timeOrNull('When it ended; null if its client has not reported that'),
  })),
)
export type Change = z.output<typeof Change>

const Values = z.record(z.string(), z.unknown())

export const ChangedRecord = named(
  'ChangedRecord',
  'A record that a change did something to, as in the audit log',
  shown(() => ({
    id: field(z.string(), 'Id of the entry of the audit log, aud_…'),
    at: field(Time, 'When it was done'),
    noun: field(z.enum(nouns), 'Type of the record'),
    action: field(z.enum(allActions), 'What was done to it'),
    subjectId: textOrNull('Id of the record'),
    subjectName: textOrNull('What it was called; null if its values are left out'),
    isErased: field(
      z.boolean(),
      'Whether its values are left out: erased with a user, or about someone whom the caller does not see',
    ),
    before: field(Values.nullable(), 'As in the audit log: what changed, as it was before'),
    after: field(Values.nullable(), 'As in the audit log: what changed, as it was afterwards'),
  })),
)
export type ChangedRecord = z.output<typeof ChangedRecord>

/** Admins see all, others their own. */
export const changes = operationsOf('changes', {
  list: {
    at: 'GET /v1/changes',
    summary: 'List changes of many records',
    roles: teachers,
    query: z.strictObject({
      user_id: ofUserOrEmail,
      ...period('Begun', 'createdAt'),
      sort: sorting(['createdAt'], '-createdAt'),
      ...paging,
    }),
    ...listOf(Change, 'changes'),
  },
  create: {
    at: 'POST /v1/changes',
    summary: 'Create a change of many records',
    roles: teachers,
    body: ChangeInput,
    response: Change,
  },
  get: {
    at: 'GET /v1/changes/{changeId}',
    summary: 'Show a change of many records',
    roles: teachers,
    response: Change,
  },
  end: {
    at: 'POST /v1/changes/{changeId}/end',
    summary: 'Record how a change ended',
    roles: teachers,
    body: ChangeEnd,
    response: Change,
    status: 200,
  },
  records: {
    at: 'GET /v1/changes/{changeId}/records',
    summary: 'List what a change did to records',
    roles: teachers,
    query: z.strictObject({ ...period('Done', 'at'), sort: sorting(['at'], 'at'), ...paging }),
    ...listOf(ChangedRecord, 'changed records'),
  },
})
