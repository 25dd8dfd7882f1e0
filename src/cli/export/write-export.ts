import type { Caller } from '../../client/caller.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Context } from '../command/context.ts'
import { counted } from '../terminal/counted.ts'
import { exactText, write } from '../terminal/io.ts'
import { createProgressLine, type ProgressLine } from '../terminal/progress-line.ts'
import { openTarget } from '../terminal/target-file.ts'
import type { ExportForm } from './export-form.ts'

/** Where an export goes, and how it is written. */
export interface ExportTarget extends ExportForm {
  /** A file; standard output where there is none. */
  readonly file: string | undefined
  readonly force: boolean
}

/** The bytes of an export, and how much of it went by so far. */
export interface Source {
  readonly bytes: AsyncIterable<Uint8Array>
  rows(): number
  /** Cells with the formula guard. */
  guarded(): number
  /** What is to be said at the end, beside the counts. */
  notes(): readonly string[]
}

/**
 * Writes all bytes of a source as they come, in constant memory, and says how many rows these were. A file is there whole
 * or not at all; a transfer that breaks off throws, whatever was received.
 *
 * @param expected how many rows there will be, null where nobody knows; asked where somebody watches
 * @param verify throws if rows are missing, before a file is there
 */
export async function writeExport(
  { io, output }: Pick<Context, 'io' | 'output'>,
  { format, gzip, file, force }: ExportTarget,
  open: () => Promise<Source>,
  expected: () => Promise<number | null>,
  verify: () => void = () => {},
): Promise<void> {
  const target = file === undefined ? null : await openTarget(io.cwd, file, { force })
  // A bar would stand in the middle of rows that are shown on the same terminal.
  const watched = target !== null || !io.stdout.isTTY
  let line: ProgressLine | null = null
  try {
    if (watched) line = await createProgressLine(io, 'rows', io.stderr.isTTY ? await expected() : null)
    const source = await open()
    const { gzipped } = gzip ? await import('./gzipped.ts') : { gzipped: null }
    // A table has shown every control character already, and may be coloured.
    const table = { write: (bytes: Uint8Array) => write(io.stdout, bytes), end: async () => {} }
    const shown = format === 'table' ? table : exactText(io.stdout)
    for await (const bytes of gzipped ? gzipped(source.bytes) : source.bytes) {
      io.signal.throwIfAborted()
      await (target ?? shown).write(bytes)
      await line?.update(source.rows())
    }
    await shown.end()
    io.signal.throwIfAborted()
    verify()
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
  } catch (error) {
    line?.stop()
    await target?.discard()
    throw error
  }
}

/** How many items a list has, as the platform counts them; null where it does not, or not to the end. */
export async function expectedRows(
  { io: { signal } }: Pick<Context, 'io'>,
  caller: Caller,
  operation: Operation,
  query: Readonly<Record<string, unknown>>,
): Promise<number | null> {
  try {
    const { data } = await caller.call(operation, {
      query: { ...query, limit: 1, include_total: 'true' },
      signal,
    })
    const { total, totalIsExact } = data as { readonly total?: unknown; readonly totalIsExact?: unknown }
    return typeof total === 'number' && totalIsExact !== false ? total : null
  } catch {
    signal.throwIfAborted()
    return null // The export itself will say what is wrong.
  }
}
