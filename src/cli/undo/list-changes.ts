import { maxPageSize } from '../../contract/constants.ts'
import type { Context } from '../command/context.ts'
import { changesOf, type FoundChange, whyNot } from './find-change.ts'
import { changeCountsText } from './undo-text.ts'

const table = ['id', 'createdAt', 'userEmail', 'command', 'source', 'done', 'canUndo']
const paths = [...table, 'state', 'endedAt', 'counts', 'undoes', 'undoneBy', 'undoableUntil', 'why']

/** Prints the changes that can be undone, and those that cannot, the newest first. */
export async function listChanges(context: Context): Promise<void> {
  const { io, output, session, settings } = context
  const caller = await session.caller()
  const limit = settings.all.value ? Number.POSITIVE_INFINITY : settings.limit.value
  let shown = 0
  let isCut = false
  async function* pages() {
    for await (const { data, more } of changesOf(context, caller, Math.min(limit, maxPageSize))) {
      const some = data.slice(0, limit - shown)
      shown += some.length
      yield some.map((change) => rowOf(change, io.now()))
      isCut = shown === limit && (more || some.length < data.length)
      if (shown === limit) return
    }
  }
  await output.list(pages(), { table, paths })
  if (isCut) await output.note(`Showing the first ${shown}; use --all for the rest`)
}

/** A change, with what it did in words, and whether it can be undone. */
function rowOf({ journal: _, ...change }: FoundChange, nowMs: number) {
  const why = whyNot(change, nowMs)
  return { ...change, done: changeCountsText(change.counts), canUndo: why === null ? 'yes' : why, why }
}
