import type { Caller } from '../../client/caller.ts'
import type { Format } from '../../config/setting.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Context } from '../command/context.ts'
import { type AnyEncoder, endBytes, hiddenNotes, rowBytes } from '../output/formats/format.ts'
import { pluralise } from '../terminal/format-text.ts'
import { createExactWriter, write } from '../terminal/io.ts'
import { createProgressLine, type ProgressLine } from '../terminal/progress-line.ts'
import { openTarget } from '../terminal/target-file.ts'
import type { SheetPlace } from './sheet-flag.ts'

export type ExportFormat = Format | 'sheet'

export interface ExportTarget {
  readonly format: ExportFormat
  /** True for a name that ends in `.gz`. */
  readonly gzip: boolean
  /** Undefined for standard output. */
  readonly file: string | undefined
  readonly force: boolean
  readonly sheet?: SheetPlace
}

export interface Source {
  readonly bytes: AsyncIterable<Uint8Array>
  rows(): number
  guarded(): number
  notes(): readonly string[]
}

/** Batches may be empty. */
export type Batches<Row = unknown> = AsyncIterable<readonly Row[]>

/** `load` gets a sample of the first rows; `notes` come after the last row; `head` rows do not count. */
export function encodedSource(
  batches: Batches,
  load: (sample: readonly unknown[]) => AnyEncoder | Promise<AnyEncoder>,
  notes: () => readonly string[] = () => [],
  head: readonly unknown[] = [],
): Source {
  let rows = 0
  let encoder: AnyEncoder | null = null
  async function* bytes() {
    if (head.length > 0) {
      encoder = await load(head)
      yield rowBytes(encoder, head)
    }
    for await (const batch of batches) {
      if (batch.length === 0) continue
      encoder ??= await load(batch)
      rows += batch.length
      yield rowBytes(encoder, batch)
    }
    encoder ??= await load([])
    yield endBytes(encoder)
  }
  return {
    bytes: bytes(),
    rows: () => rows,
    guarded: () => encoder?.guarded?.() ?? 0,
    notes: () => [...notes(), ...(encoder ? hiddenNotes(encoder) : [])],
  }
}

/**
 * Writes a source in constant memory; prints and returns the number of rows. A file is created completely or not at
 * all; an incomplete transfer throws.
 *
 * @param expected returns the number of rows, null if unknown; called only to show progress
 */
export async function writeExport(
  context: Context,
  { format, gzip, file, force, sheet }: ExportTarget,
  open: () => Promise<Source>,
  expected: () => Promise<number | null> = async () => null,
): Promise<number> {
  const { io, output } = context
  const tab = sheet ? await (await import('./sheet-target.ts')).openSheet(context, sheet) : null
  const target = tab ?? (file === undefined ? null : await openTarget(io.cwd, file, { force }))
  // A bar on the same terminal would mix with the rows.
  const watched = target !== null || !io.stdout.isTTY
  let line: ProgressLine | null = null
  try {
    if (watched) line = await createProgressLine(io, 'rows', io.stderr.isTTY ? await expected() : null)
    const source = await open()
    // A table may be coloured, and its control characters are already escaped.
    const table = { write: (bytes: Uint8Array) => write(io.stdout, bytes), end: async () => {} }
    const shown = format === 'table' ? table : createExactWriter(io.stdout)
    for await (const bytes of gzip ? await compress(source.bytes) : source.bytes) {
      io.signal.throwIfAborted()
      await (target ?? shown).write(bytes)
      await line?.update(source.rows())
    }
    await shown.end()
    io.signal.throwIfAborted()
    await target?.finish()
    line?.stop()
    const place = tab ? ` to ${tab.name}` : file === undefined ? '' : ` to ${file}`
    await output.done(`Exported ${pluralise(source.rows(), 'row')}${place}`)
    const guarded = source.guarded()
    if (guarded > 0) {
      await output.note(
        `Possible formulas escaped in ${pluralise(guarded, 'cell')}; use --raw to turn this off`,
      )
    }
    for (const text of source.notes()) await output.note(text)
    return source.rows()
  } catch (error) {
    line?.stop()
    await target?.discard()
    throw error
  }
}

/** Compresses bytes as a stream (RFC 1952). Throws the source's errors. */
async function compress(bytes: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
  const [{ Readable }, { createGzip }] = await Promise.all([import('node:stream'), import('node:zlib')])
  const source = Readable.from(bytes, { objectMode: true })
  const gzip = createGzip()
  source.on('error', (error) => gzip.destroy(error))
  // Destroy the source if the reader stops early.
  gzip.on('close', () => source.destroy())
  return source.pipe(gzip)
}

/** Null if the platform does not count them, or only up to a limit. */
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
    return null // The export itself reports the error.
  }
}
