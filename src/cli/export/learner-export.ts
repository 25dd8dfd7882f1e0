import type { OutgoingRequest } from '../../client/call-input.ts'
import type { Caller } from '../../client/caller.ts'
import type { Context } from '../command/context.ts'
import { counted } from '../terminal/counted.ts'
import { exactText } from '../terminal/exact-text.ts'
import { write } from '../terminal/io.ts'
import { createProgressLine, type ProgressLine } from '../terminal/progress-line.ts'
import { openTarget } from '../terminal/target-file.ts'
import { firstRequest, sourceOf, type Wanted } from './export-source.ts'

/** What to export, in which form, and where to. */
export interface LearnerExport extends Wanted {
  /** Parameters that ask for more than is wanted: what they bring beside that is no fault of the platform. */
  readonly widened?: readonly string[]
  /** A file; standard output where there is none. */
  readonly file: string | undefined
  readonly gzip: boolean
  readonly force: boolean
}

/** The request that an export begins with, without its credential. */
export function exportRequest(caller: Caller, wanted: LearnerExport): OutgoingRequest {
  const { input, accept } = firstRequest(wanted)
  const request = caller.request(wanted.operation, input)
  return { ...request, headers: { ...request.headers, accept } }
}

/**
 * Exports all rows as they come, in constant memory. A file is there whole or not at all; a transfer that breaks off
 * throws, whatever was received.
 */
export async function exportLearners(context: Context, caller: Caller, wanted: LearnerExport): Promise<void> {
  const { io, output } = context
  const { file, force } = wanted
  const target = file === undefined ? null : await openTarget(io.cwd, file, { force })
  // A bar would stand in the middle of rows that are shown on the same terminal.
  const watched = target !== null || !io.stdout.isTTY
  let line: ProgressLine | null = null
  try {
    if (watched) line = await createProgressLine(io, 'rows', await expectedRows(context, caller, wanted))
    const source = await sourceOf(context, caller, wanted)
    const { gzipped } = wanted.gzip ? await import('./gzipped.ts') : { gzipped: null }
    // A table has shown every control character already, and may be coloured.
    const table = { write: (bytes: Uint8Array) => write(io.stdout, bytes), end: async () => {} }
    const shown = wanted.format === 'table' ? table : exactText(io.stdout)
    for await (const bytes of gzipped ? gzipped(source.bytes) : source.bytes) {
      io.signal.throwIfAborted()
      await (target ?? shown).write(bytes)
      await line?.update(source.rows())
    }
    await shown.end()
    io.signal.throwIfAborted()
    await target?.finish()
    line?.stop()
    const place = file === undefined ? '' : ` to ${file}`
    await output.done(`Exported ${counted(source.rows(), 'row')}${place}`)
    const guarded = source.guarded()
    if (guarded > 0) {
      await output.note(
        `Possible formulas escaped in ${counted(guarded, 'cell')}; use --raw to turn this off`,
      )
    }
    for (const text of source.notes()) await output.note(text)
    await wanted.filter?.note(wanted.widened)
  } catch (error) {
    line?.stop()
    await target?.discard()
    throw error
  }
}

/** How many rows there will be, where somebody watches and the platform counts. */
async function expectedRows(
  { io: { stderr, signal } }: Context,
  caller: Caller,
  { operation, query }: LearnerExport,
): Promise<number | null> {
  if (!stderr.isTTY) return null
  try {
    const count = { ...query, limit: 1, include_total: 'true', summary: 'false' } as const
    const { data } = await caller.call(operation, { query: count, signal })
    return typeof data.total === 'number' ? data.total : null
  } catch {
    signal.throwIfAborted()
    return null // The export itself will say what is wrong.
  }
}
