import { createHash } from 'node:crypto'
import sql, { type Sql } from 'sql-template-tag'
import { type JsonObject, jsonText } from '../../codec/json-text.ts'
import type { Action } from '../../contract/actions.ts'
import { audit } from '../../contract/audit.ts'
import type { ChangedRecord } from '../../contract/changes.ts'
import { progress } from '../../contract/progress.ts'
import { maxUndoneRecords, type Undone, type UndoPlan, undo } from '../../contract/undo.ts'
import { type EntryRow, entriesOfRequest, entryColumns } from '../audit/audit-log.ts'
import { type ChangeRow, changedRecords, requireChange, unfinishedUndosOf } from '../audit/changes.ts'
import { type BulkChange, foldCounts, storeCounts, undoableUntil } from '../changes/writing.ts'
import type { Row } from '../database/database.ts'
import { type Call, requireRight } from '../http/handler.ts'
import { bodyOf, routesOf } from '../http/schema-routes.ts'
import { notFound, ProblemError } from '../problem-error.ts'
import { carryOut } from './carry-out-undo.ts'
import { counted, type Lasting, lastingTexts, type RecordedAction, type Summed, sumUp } from './net-change.ts'
import { type Perform, performer } from './perform.ts'
import { type Actions, planActions, type UndoAction } from './plan-undo.ts'

export const undoRoutes = routesOf(undo, {
  plan: {
    isLong: true,
    handle: async (call) => (await planOf(call, await subjectOf(call, call.params.changeId), null)).shown,
  },
  carryOut: undoInTransaction,
})

const entriesAtOnce = 1_000

interface Subject {
  readonly command: 'undo' | 'audit revert'
  readonly source: string
  /** Null for a request or an entry. */
  readonly change: ChangeRow | null
  readonly entries: Entries
}

/** Reads the next entries of the audit log after an id, oldest first. */
type Entries = (after: string) => Promise<EntryRow[]>

function entriesIn({ database }: Pick<Call, 'database'>, condition: Sql): Entries {
  return (after) =>
    database.all<EntryRow>(sql`
      select ${entryColumns} from audit_entries a where ${condition} and a.id > ${after}
      order by a.id limit ${entriesAtOnce}`)
}

/** Undoes a change in one transaction; a large one in several, each by a request of its own. */
async function undoInTransaction(call: Call<typeof undo.carryOut>): Promise<Undone> {
  const { digest, continues, limit } = bodyOf(call)
  const { database, now, newId, principal } = call
  const subject = await subjectOf(call, call.params.changeId)
  const own = continues === null ? null : await runningUndo(call, subject, continues)
  const plan = await planOf(call, subject, own)
  if (own === null && plan.shown.digest !== digest) throw outdated(plan.shown)
  if (plan.actions.length === 0 && own === null) return { change: null, isComplete: true, failed: [] }
  const id = own ?? newId('chg')
  if (own === null) {
    await database.run(sql`
      insert into changes (id, user_id, command, source, undoes, state, created_at)
      values (${id}, ${principal.userId}, ${subject.command}, ${subject.source}, ${subject.change?.id ?? null}, 'running', ${now})`)
  }
  const change: BulkChange = { id, counts: new Map() }
  const options = { deletesWhole: mayDeleteWhole(call), maxWrites: limit }
  const { failed, isComplete } = await carryOut({ ...call, change }, plan, options)
  storeCounts(call, change)
  if (isComplete) {
    const state = failed.length > 0 ? 'partial' : 'completed'
    await database.run(sql`update changes set state = ${state}, ended_at = ${now} where id = ${id}`)
    await foldCounts(database, id)
  }
  return { change: id, isComplete, failed: [...failed] }
}

/** Throws 404, and 409 for a change that is too old. */
async function subjectOf(call: Call, reference: string): Promise<Subject> {
  if (/^(aud|req)_/.test(reference)) {
    requireRight(call.principal, audit.get)
    const isOne = reference.startsWith('aud_') ? sql`a.id = ${reference}` : entriesOfRequest(reference)
    const subject = {
      command: 'audit revert',
      source: reference,
      change: null,
      entries: entriesIn(call, isOne),
    } as const
    if ((await subject.entries('')).length === 0) throw notFound('audit entry', reference)
    return subject
  }
  const change = await requireChange(call, reference)
  if (undoableUntil(change.created_at) <= call.now) {
    const detail = `Change ${change.id} could be undone until ${undoableUntil(change.created_at).slice(0, 10)}: deleted records are kept for 30 days.`
    throw new ProblemError('too_old', detail)
  }
  const { command, source } = change
  const named = source === null ? command : `${command} (${source})`
  return { command: 'undo', source: named, change, entries: entriesIn(call, sql`a.change_id = ${change.id}`) }
}

/** Throws 404. */
async function runningUndo(call: Call, { change, command, source }: Subject, id: string): Promise<string> {
  const row = await requireChange(call, id)
  const isOwn = row.user_id === call.principal.userId && row.state === 'running' && row.command === command
  if (isOwn && row.undoes === (change?.id ?? null) && row.source === source) return id
  throw notFound('running undo', id)
}

interface Plan extends Actions {
  readonly shown: UndoPlan
}

/** Includes the undos of the change that did not complete. */
async function planOf(call: Call, subject: Subject, own: string | null): Promise<Plan> {
  const { principal } = call
  const continues = subject.change
    ? await unfinishedUndosOf(call.database, subject.change.id)
    : own === null
      ? []
      : [own]
  const later = continues.map((id) => entriesIn(call, sql`a.change_id = ${id}`))
  const summed = await sumUp(actionsOf(call, [subject.entries]), actionsOf(call, later))
  if (summed.records.length > maxUndoneRecords) {
    throw new ProblemError(
      'limit_reached',
      `A change of more than ${maxUndoneRecords} records cannot be undone as a whole.`,
    )
  }
  const admin = { ...principal, role: 'admin', sees: 'all', scopes: ['read', 'write', 'admin'] } as const
  const perform = performer(call)
  const reading = {
    perform,
    performAsAdmin: performer({ ...call, principal: admin }),
    seesAll: principal.sees === 'all',
  }
  const deletesWhole = mayDeleteWhole(call)
  const plan = await planActions(reading, summed.records, deletesWhole)
  const counted = await withProgress(call, subject, summed)
  const lasting = [...lastingTexts(counted), ...(await noticesOf(call, perform, plan, deletesWhole))]
  const actions = plan.actions.map(shownAction)
  const kept = plan.kept.map((each) => ({ ...each, fields: [...each.fields] }))
  const digest = createHash('sha256')
    .update(jsonText([actions, kept]))
    .digest('hex')
  return { ...plan, shown: { digest, actions, kept, lasting, done: plan.done, continues: [...continues] } }
}

function shownAction({ kind, of, net, fields }: UndoAction): UndoPlan['actions'][number] {
  const { id, name } = net
  const changed = [...fields].map(([field, { from, to }]) => ({ field, from: from ?? null, to: to ?? null }))
  return { action: kind, noun: of.name, id, name, fields: changed }
}

function mayDeleteWhole({ principal }: Pick<Call, 'principal'>): boolean {
  return principal.role === 'admin' && principal.scopes.includes('admin')
}

function outdated({ actions, kept }: UndoPlan): ProblemError {
  const detail = `The academy has changed since the plan was made: it has ${actions.length} actions and ${kept.length} kept records now. Nothing was done.`
  return new ProblemError('plan_outdated', detail)
}

/** Reads what was done, the oldest action first. */
async function* actionsOf(
  call: Call,
  sources: readonly Entries[],
): AsyncGenerator<readonly RecordedAction[]> {
  for (const entries of sources) {
    for (let after = ''; ; ) {
      const rows = await entries(after)
      yield (await changedRecords(call, rows)).map(recorded)
      const last = rows.at(-1)
      if (!last || rows.length < entriesAtOnce) break
      after = last.id
    }
  }
}

function recorded(entry: ChangedRecord): RecordedAction {
  const { noun, action, subjectId, subjectName, isErased, before, after } = entry
  const verb = action.slice(noun.length + 1)
  // Values of the audit log are JSON objects.
  const values = { before: before as JsonObject | null, after: after as JsonObject | null }
  return { noun, verb, id: subjectId, name: subjectName, isErased, ...values }
}

/** Adds the records of progress that a change wrote, which the audit log does not have. */
async function withProgress({ database }: Call, { change }: Subject, { lasting }: Summed): Promise<Lasting> {
  if (!change) return lasting
  const action: Action = 'progress.updated'
  const row = await database.one<Row & { total: number | null }>(sql`
    select cast(sum(total) as bigint) as total from change_counts where change_id = ${change.id} and action = ${action}`)
  return row?.total ? new Map([...lasting, [action, row.total]]) : lasting
}

const maxCounted = 50

/** Progress in courses that it deletes, and events that were sent. */
async function noticesOf(
  call: Call,
  perform: Perform,
  { actions }: Actions,
  deletesWhole: boolean,
): Promise<string[]> {
  const notices: string[] = []
  const removed = actions.filter(({ of, kind }) => of.name === 'course' && kind === 'delete')
  for (const { net } of removed.slice(0, maxCounted)) {
    const query = { course_id: net.id, limit: '1', include_total: 'true' }
    const { total = 0 } = await perform(progress.all, { query })
    if (total > 0) {
      const records = counted(total, 'progress record')
      notices.push(
        `course ${net.name} goes to the trash with ${records}; restore it within 30 days with: learnctl courses restore ${net.id}`,
      )
    }
  }
  if (actions.length > 0 && deletesWhole && (await hasEndpoints(call)))
    notices.push('events that were sent to webhook endpoints; the undo sends events of its own')
  return notices
}

async function hasEndpoints({ database }: Call): Promise<boolean> {
  const found = await database.one(sql`select 1 from webhook_endpoints where status = 'active' limit 1`)
  return found !== undefined
}
