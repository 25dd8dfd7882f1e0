import type { OutgoingRequest } from '../../client/call-input.ts'
import type { Caller } from '../../client/caller.ts'
import { parseJson } from '../../codec/json-text.ts'
import type { Context } from '../command/context.ts'
import { hiddenNote, type ListEncoder } from '../output/formats/format.ts'
import { counted } from '../terminal/counted.ts'
import { CommandError } from '../terminal/errors.ts'
import { exactText } from '../terminal/exact-text.ts'
import { write } from '../terminal/io.ts'
import { createProgressLine, type ProgressLine } from '../terminal/progress-line.ts'
import { openTarget } from '../terminal/target-file.ts'
import { csvCounter } from './csv-counter.ts'
import { type Learners, type LearnersQuery, rowTexts } from './learner-rows.ts'
import type { RowForm } from './row-encoder.ts'

/** What to export, in which form, and where to. */
export interface LearnerExport extends RowForm {
  readonly operation: Learners
  readonly query: LearnersQuery
  /** A file; standard output where there is none. */
  readonly file: string | undefined
  readonly gzip: boolean
  readonly force: boolean
}

/** The bytes of an export, and how much of it went by so far. */
interface Source {
  readonly bytes: AsyncIterable<Uint8Array>
  rows(): number
  /** Cells with the formula guard. */
  guarded(): number
  /** What is to be said about columns that are not shown. */
  hidden(): string | null
}

const media = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const

/** The request that an export begins with, without its credential. */
export function exportRequest(caller: Caller, wanted: LearnerExport): OutgoingRequest {
  const query = exportQuery(wanted)
  const request = caller.request(wanted.operation, { query })
  return { ...request, headers: { ...request.headers, accept: media[query.format] } }
}

/** The query by which the rows are asked for: CSV as the platform writes it, all else from rows of JSON. */
function exportQuery({ query, format, columns, raw, bom }: Omit<LearnerExport, 'operation'>) {
  if (format !== 'csv' || columns !== null) return { ...query, format: 'ndjson' } as const
  return {
    ...query,
    format: 'csv',
    ...(raw && { raw: 'true' as const }),
    ...(bom && { bom: 'true' as const }),
  } as const
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
    const hidden = source.hidden()
    if (hidden !== null) await output.note(hidden)
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

async function sourceOf(context: Context, caller: Caller, wanted: LearnerExport): Promise<Source> {
  const { operation, query, format, columns } = wanted
  const { signal } = context.io
  if (format === 'csv' && columns === null) return csvSource(caller, wanted, signal)
  const batches = await rowTexts(caller, operation, query, signal)
  // Rows that are wanted as they come need not be understood.
  if (columns === null && (format === 'json' || format === 'jsonl')) return textSource(batches, format)
  return rowSource(context, batches, wanted)
}

/** The server's own bytes, counted as they go by. */
async function csvSource(caller: Caller, wanted: LearnerExport, signal: AbortSignal): Promise<Source> {
  const { operation, raw } = wanted
  const input = { query: exportQuery(wanted), signal }
  const { body, headers } = await caller.open(operation, input, { accept: media.csv })
  const { assertWhole } = await import('../../client/incomplete.ts')
  const counter = csvCounter()
  const rows = () => Math.max(0, counter.records() - 1)
  async function* bytes() {
    for await (const piece of body ?? []) {
      counter.count(piece)
      yield piece
    }
    counter.end()
    assertWhole(caller.request(operation, input), headers, rows())
  }
  return {
    bytes: bytes(),
    rows,
    guarded: raw ? () => 0 : counter.guarded,
    hidden: () => null,
  }
}

/** Rows of JSON as they come, a line each or as one array. */
function textSource(batches: AsyncIterable<readonly string[]>, format: 'json' | 'jsonl'): Source {
  let rows = 0
  async function* bytes() {
    for await (const texts of batches) {
      if (texts.length === 0) continue
      const lead = format === 'jsonl' ? '' : rows === 0 ? '[\n' : ',\n'
      rows += texts.length
      yield Buffer.from(
        lead + (format === 'jsonl' ? texts.map((text) => `${text}\n`).join('') : texts.join(',\n')),
      )
    }
    if (format === 'json') yield Buffer.from(rows === 0 ? '[]\n' : '\n]\n')
  }
  return { bytes: bytes(), rows: () => rows, guarded: () => 0, hidden: () => null }
}

/** Rows of JSON, understood and written anew: in other formats, and with chosen columns. */
async function rowSource(
  context: Context,
  batches: AsyncIterable<readonly string[]>,
  wanted: LearnerExport,
): Promise<Source> {
  const { rowEncoder } = await import('./row-encoder.ts')
  const counter = csvCounter()
  let rows = 0
  let encoder: ListEncoder | null = null
  async function* texts() {
    for await (const batch of batches) {
      if (batch.length === 0) continue
      const values = batch.map(parsed)
      encoder ??= await rowEncoder(context, wanted, values)
      rows += values.length
      yield encoder.rows(values)
    }
    encoder ??= await rowEncoder(context, wanted, [])
    yield encoder.end()
  }
  async function* bytes() {
    for await (const text of texts()) {
      const piece = Buffer.from(text)
      if (wanted.format === 'csv') counter.count(piece)
      yield piece
    }
    counter.end()
  }
  const guarded = wanted.format === 'csv' && !wanted.raw ? counter.guarded : () => 0
  return { bytes: bytes(), rows: () => rows, guarded, hidden: () => encoder && hiddenNote(encoder) }
}

function parsed(text: string): unknown {
  try {
    return parseJson(text)
  } catch (cause) {
    throw new CommandError('invalid_row', 'failure', 'The platform sent a row that is not JSON', { cause })
  }
}
