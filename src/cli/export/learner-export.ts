import type { Caller } from '../../client/caller.ts'
import type { analytics } from '../../contract/analytics.ts'
import type { QueryInput } from '../../contract/operation.ts'
import type { Context } from '../command/context.ts'
import { CommandError } from '../terminal/errors.ts'
import { write } from '../terminal/io.ts'
import { createProgressLine, type ProgressLine } from '../terminal/progress-line.ts'
import { openTarget } from '../terminal/target-file.ts'
import { csvCounter } from './csv-counter.ts'

type Learners = typeof analytics.learners

/** What to export, in which form, and where to. */
export interface LearnerExport {
  readonly operation: Learners
  readonly query: Omit<QueryInput<Learners>, 'format'>
  readonly format: 'csv' | 'json' | 'ndjson'
  /** A file; standard output where there is none. */
  readonly file: string | undefined
  readonly force: boolean
}

/** The bytes of an export, and how much of it went by so far. */
interface Source {
  readonly bytes: AsyncIterable<Uint8Array>
  rows(): number
  /** Cells with the formula guard. */
  guarded(): number
}

/**
 * Exports all rows as they come, in constant memory. A file is there whole or not at all; a transfer that breaks off
 * throws, whatever was received.
 */
export async function exportLearners(context: Context, caller: Caller, wanted: LearnerExport): Promise<void> {
  const { io, output } = context
  const { file, format, force } = wanted
  const target = file === undefined ? null : await openTarget(io.cwd, file, { force })
  // A bar would stand in the middle of rows that are shown on the same terminal.
  const watched = target !== null || !io.stdout.isTTY
  let line: ProgressLine | null = null
  try {
    if (watched) line = await createProgressLine(io, 'rows', await expectedRows(context, caller, wanted))
    const source = await (format === 'csv' ? csvSource : rowSource)(caller, wanted, io.signal)
    for await (const bytes of source.bytes) {
      io.signal.throwIfAborted()
      await (target ? target.write(bytes) : write(io.stdout, bytes))
      await line?.update(source.rows())
    }
    io.signal.throwIfAborted()
    await target?.finish()
    line?.stop()
    const place = file === undefined ? '' : ` written to ${file}`
    const guarded = source.guarded()
    const cells =
      guarded > 0
        ? `, ${counted(guarded, 'cell')} guarded against formulas (--raw leaves them as they are)`
        : ''
    await output.note(`${counted(source.rows(), 'row')}${place}${cells}`)
  } catch (error) {
    line?.stop()
    await target?.discard()
    throw error
  }
}

function counted(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`
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

/** The server's own bytes, counted as they go by. */
async function csvSource(
  caller: Caller,
  { operation, query }: LearnerExport,
  signal: AbortSignal,
): Promise<Source> {
  const { body } = await caller.open(
    operation,
    { query: { ...query, format: 'csv' }, signal },
    { accept: 'text/csv' },
  )
  const counter = csvCounter()
  async function* bytes() {
    for await (const piece of body ?? []) {
      counter.count(piece)
      yield piece
    }
    counter.end()
  }
  const guarded = query.raw === 'true' ? () => 0 : counter.guarded
  return { bytes: bytes(), rows: () => Math.max(0, counter.records() - 1), guarded }
}

/** Rows of JSON, a line each or as one array: from a stream where the platform has one, else page by page. */
async function rowSource(
  caller: Caller,
  { operation, query, format }: LearnerExport,
  signal: AbortSignal,
): Promise<Source> {
  const batches = await rowTexts(caller, operation, query, signal)
  let rows = 0
  async function* bytes() {
    for await (const texts of batches) {
      if (texts.length === 0) continue
      const lead = format === 'ndjson' ? '' : rows === 0 ? '[\n' : ',\n'
      rows += texts.length
      yield Buffer.from(
        lead + (format === 'ndjson' ? texts.map((text) => `${text}\n`).join('') : texts.join(',\n')),
      )
    }
    if (format === 'json') yield Buffer.from(rows === 0 ? '[]\n' : '\n]\n')
  }
  return { bytes: bytes(), rows: () => rows, guarded: () => 0 }
}

async function rowTexts(
  caller: Caller,
  operation: Learners,
  query: LearnerExport['query'],
  signal: AbortSignal,
): Promise<AsyncIterable<readonly string[]>> {
  const type = 'application/x-ndjson'
  const { ApiError, ProtocolError } = await import('../../client/errors.ts')
  try {
    const { body } = await caller.open(
      operation,
      { query: { ...query, format: 'ndjson' }, signal },
      { accept: type },
    )
    return linesOf(body ?? [])
  } catch (error) {
    // The published interface names csv alone: a platform that does not know ndjson gives its rows in JSON.
    const unknown =
      (error instanceof ApiError && !error.coded && [400, 406, 415, 422].includes(error.status)) ||
      (error instanceof ProtocolError && error.code === 'unexpected_type')
    if (!unknown) throw error
    return pagedTexts(caller, operation, query, signal)
  }
}

async function* linesOf(body: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of body) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield lines
  }
  if (rest === '') return
  // Not every server tells the length of a stream: what shows that one broke off may be its last line alone.
  if (!isJson(rest))
    throw new CommandError('cut_short', 'unavailable', 'the export broke off within its last row')
  yield [rest]
}

function isJson(text: string): boolean {
  try {
    return JSON.parse(text) !== undefined
  } catch {
    return false
  }
}

async function* pagedTexts(
  caller: Caller,
  operation: Learners,
  query: LearnerExport['query'],
  signal: AbortSignal,
): AsyncGenerator<string[]> {
  for await (const { data } of caller.pages(operation, { query, signal }))
    yield data.map((row) => JSON.stringify(row))
}
