import type { Caller } from '../../client/caller.ts'
import { ApiError } from '../../client/errors.ts'
import { calls } from '../../contract/calls.ts'
import type { Change } from '../../contract/changes.ts'
import { maxPageSize } from '../../contract/constants.ts'
import type { Context } from '../command/context.ts'
import { requireLearnctl } from '../session/learnctl-server.ts'
import { CommandError } from '../terminal/errors.ts'
import { pluralise } from '../terminal/format-text.ts'
import { changeCountsText, isUndoable } from './undo-text.ts'

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

function rowOf(change: Change, nowMs: number) {
  const why = whyNot(change, nowMs)
  return { ...change, done: changeCountsText(change.counts), canUndo: why === null, why }
}

/** The newest change comes first. */
function changesOf(
  { io: { signal } }: Pick<Context, 'io'>,
  caller: Caller,
  limit: number,
  userId?: string,
): AsyncGenerator<{ readonly data: readonly Change[]; readonly more: boolean }> {
  return caller.pages(calls.changes.list, { query: { limit, ...(userId && { user_id: userId }) }, signal })
}

/** `reference` is an id, the beginning of one, or `last`: the user's own last change. Throws a CommandError. */
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
  const isLast = reference === 'last'
  const own = isLast
    ? (await caller.call(calls.users.profile, { signal: context.io.signal })).data.id
    : undefined
  for await (const { data } of changesOf(context, caller, maxPageSize, own)) {
    for (const change of data) {
      if (isLast && isOpenToUndo(change)) return change
      if (!isLast && isNamed(change, reference)) found.push(change)
    }
    left -= data.length
    if (left <= 0) break
  }
  const [first, ...others] = found
  if (isLast) {
    throw new CommandError('not_found', 'notFound', 'You have made no change that can be undone', {
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

/** False for an undoing, and for a change that has done nothing or was undone. */
function isOpenToUndo({ counts, undoes, undoneBy }: Change): boolean {
  return counts.length > 0 && undoes === null && undoneBy === null
}

function noChange(reference: string): CommandError {
  return new CommandError('not_found', 'notFound', `Change ${reference} not found`, {
    hint: 'See: learnctl undo list',
  })
}

/** Null if it can. */
function whyNot({ counts, undoneBy, undoableUntil }: Change, nowMs: number): string | null {
  if (undoneBy !== null) return `undone by ${undoneBy}`
  if (Date.parse(undoableUntil) <= nowMs) return 'too old'
  if (counts.length === 0) return 'nothing was changed'
  return counts.some(({ noun }) => isUndoable(noun)) ? null : 'nothing of it can be undone'
}
