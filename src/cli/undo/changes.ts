import type { Caller } from '../../client/caller.ts'
import { ApiError } from '../../client/errors.ts'
import type { JsonObject } from '../../codec/json-text.ts'
import type { AuditEntry } from '../../contract/audit.ts'
import { calls } from '../../contract/calls.ts'
import type { Change, ChangedRecord } from '../../contract/changes.ts'
import { maxPageSize } from '../../contract/constants.ts'
import type { Context } from '../command/context.ts'
import { requireLearnctl } from '../session/learnctl-server.ts'
import { CommandError } from '../terminal/errors.ts'
import { pluralise } from '../terminal/format-text.ts'
import type { RecordedAction } from './net-change.ts'
import { kindOf } from './record-kinds.ts'
import { changeCountsText } from './undo-text.ts'

/** Changes to search for a prefix. */
const maxSearched = 1000

const table = ['id', 'createdAt', 'userEmail', 'command', 'source', 'done', 'canUndo', 'why']
const paths = [...table, 'state', 'endedAt', 'counts', 'undoes', 'undoneBy', 'undoableUntil']

/**
 * Prints the changes that can be undone, and those that cannot, the newest first; without --all, not those that ended without
 * changing anything.
 */
export async function listChanges(context: Context): Promise<void> {
  const { io, output, session, settings } = context
  const caller = await session.caller()
  await requireLearnctl(session, caller, 'undo list', io.signal)
  const limit = settings.all.value ? Number.POSITIVE_INFINITY : settings.limit.value
  let shown = 0
  let isCut = false
  let hidden = 0
  // Many changes in a row may be hidden.
  const pageSize = Math.min(Math.max(limit, 20), maxPageSize)
  async function* pages() {
    for await (const { data: all, more } of changesOf(context, caller, pageSize)) {
      const data = settings.all.value
        ? all
        : all.filter(({ state, counts }) => state === 'running' || counts.length > 0)
      hidden += all.length - data.length
      const some = data.slice(0, limit - shown)
      shown += some.length
      yield some.map((change) => rowOf(change, io.now()))
      isCut = shown === limit && (more || some.length < data.length)
      if (shown === limit) return
    }
  }
  await output.list(pages(), { table, paths })
  if (isCut) await output.note(`Showing the first ${shown}; use --all for the rest`)
  else if (hidden > 0 && !settings.quiet.value) {
    await output.note(`Not shown: ${pluralise(hidden, 'change')} that changed nothing; use --all to see them`)
  }
}

/** A change, with what it did in words, whether it can be undone, and why not. */
function rowOf(change: Change, nowMs: number) {
  const why = whyNot(change, nowMs)
  return { ...change, done: changeCountsText(change.counts), canUndo: why === null, why }
}

/** Yields the changes of a platform, the newest first. */
function changesOf(
  { io: { signal } }: Pick<Context, 'io'>,
  caller: Caller,
  limit = maxPageSize,
): AsyncGenerator<{ readonly data: readonly Change[]; readonly more: boolean }> {
  return caller.pages(calls.changes.list, { query: { limit }, signal })
}

/** Finds a change by its id, by the beginning of it, or as `last`. Throws a CommandError. */
export async function findChange(
  context: Pick<Context, 'io'>,
  caller: Caller,
  reference: string,
): Promise<Change> {
  if (/^chg_\w{29}$/.test(reference)) {
    try {
      const { data } = await caller.call(calls.changes.get, {
        params: { changeId: reference },
        signal: context.io.signal,
      })
      return data
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 404)) throw error
    }
  }
  const found: Change[] = []
  let left = maxSearched
  for await (const { data } of changesOf(context, caller)) {
    for (const change of data) {
      if (reference === 'last' && isOpenToUndo(change)) return change
      if (reference !== 'last' && isNamed(change, reference)) found.push(change)
    }
    left -= data.length
    if (left <= 0) break
  }
  const [first, ...others] = found
  if (reference === 'last') {
    throw new CommandError('not_found', 'notFound', 'There is no change to undo', {
      hint: 'See: learnctl undo list',
    })
  }
  if (!first) throw noChange(reference)
  if (others.length === 0) return first
  throw new CommandError('ambiguous', 'usage', `${found.length} changes begin with ${reference}`, {
    why: found.slice(0, 10).map(({ id, command, createdAt }) => `${id}  ${createdAt}  ${command}`),
    hint: 'Give more of the id',
  })
}

function isNamed({ id }: Change, reference: string): boolean {
  return id.startsWith(reference) || id.startsWith(`chg_${reference}`)
}

/** True for a change that has done something, is no undoing itself, and has not been undone. */
function isOpenToUndo({ counts, undoes, undoneBy }: Change): boolean {
  return counts.length > 0 && undoes === null && undoneBy === null
}

function noChange(reference: string): CommandError {
  return new CommandError('not_found', 'notFound', `Change ${reference} not found`, {
    hint: 'See: learnctl undo list',
  })
}

/** Returns why a change cannot be undone; null if it can. */
function whyNot({ counts, undoneBy, undoableUntil }: Change, nowMs: number): string | null {
  if (undoneBy !== null) return `undone by ${undoneBy}`
  if (Date.parse(undoableUntil) <= nowMs) return 'too old'
  if (counts.length === 0) return 'nothing was changed'
  return counts.some(({ noun }) => kindOf(noun)) ? null : 'nothing of it can be undone'
}

/** Finds the undos of a change that did not complete, the oldest first. */
export async function unfinishedUndos(
  context: Pick<Context, 'io'>,
  caller: Caller,
  { id, createdAt }: Change,
): Promise<readonly Change[]> {
  const found: Change[] = []
  let left = maxSearched
  for await (const { data } of changesOf(context, caller)) {
    found.push(
      ...data.filter(
        ({ undoes, state, undoneBy }) => undoes === id && state !== 'completed' && undoneBy === null,
      ),
    )
    left -= data.length
    // An undo is newer than its change.
    if (left <= 0 || data.some((change) => change.createdAt < createdAt)) break
  }
  return found.reverse()
}

/** Reads what changes did, the oldest action first. */
export async function* actionsOf(
  caller: Caller,
  changes: readonly Change[],
  signal: AbortSignal,
): AsyncGenerator<readonly RecordedAction[]> {
  for (const { id: changeId } of changes) {
    const input = { params: { changeId }, query: { limit: maxPageSize }, signal }
    for await (const { data } of caller.pages(calls.changes.records, input)) yield data.map(recorded)
  }
}

/** Reads what a request did, or an entry of the audit log. Throws a CommandError if it did nothing. */
export async function* actionsOfEntry(
  caller: Caller,
  reference: string,
  signal: AbortSignal,
): AsyncGenerator<readonly RecordedAction[]> {
  if (reference.startsWith('aud_')) {
    const { data } = await caller.call(calls.audit.get, { params: { entryId: reference }, signal })
    yield [recorded(ofEntry(data))]
    return
  }
  const query = { request_id: reference, sort: 'at' as const, limit: maxPageSize }
  let isEmpty = true
  for await (const { data } of caller.pages(calls.audit.list, { query, signal })) {
    isEmpty &&= data.length === 0
    yield data.map((entry) => recorded(ofEntry(entry)))
  }
  if (!isEmpty) return
  throw new CommandError('not_found', 'notFound', `No entry of the audit log is of request ${reference}`, {
    hint: 'Find the entry with `learnctl audit list`; progress is not in the audit log',
  })
}

function ofEntry(entry: AuditEntry): ChangedRecord {
  return { ...entry, isErased: entry.detailsSalt === null }
}

function recorded({
  noun,
  action,
  subjectId,
  subjectName,
  isErased,
  before,
  after,
}: ChangedRecord): RecordedAction {
  const verb = action.slice(noun.length + 1)
  // Values of the audit log are JSON objects.
  const values = { before: before as JsonObject | null, after: after as JsonObject | null }
  return { noun, verb, id: subjectId, name: subjectName, isErased, ...values }
}
