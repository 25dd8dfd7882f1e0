import type { OutgoingRequest } from '../../client/call.ts'
import type { Caller } from '../../client/caller.ts'
import type { BatchForm } from '../../client/foreign/filter.ts'
import { originalOf } from '../../client/original-record.ts'
import { isStrict } from '../../client/reply.ts'
import { formatCount } from '../../codec/display-text.ts'
import { isJsonObject, type JsonObject, jsonText, parseJson } from '../../codec/json-text.ts'
import { mayDiffer, platformName } from '../../config/target.ts'
import type { analytics } from '../../contract/analytics.ts'
import type { QueryInput } from '../../contract/operation.ts'
import type { Context } from '../command/context.ts'
import { expectedRows } from '../operation/expected-rows.ts'
import type { PlatformFilter } from '../operation/judge-list.ts'
import { type AnyEncoder, endBytes, hiddenNote, rowBytes } from '../output/formats/format.ts'
import type { Pseudonymising } from '../pseudonyms/pseudonym-table.ts'
import { CommandError } from '../terminal/errors.ts'
import { pluralise } from '../terminal/format-text.ts'
import { type CsvCounter, createCsvCounter, guardCsv } from './csv-bytes.ts'
import type { ExportTarget } from './export-options.ts'
import type { RowForm } from './row-encoder.ts'
import { type Source, writeExport } from './write-export.ts'

/** The operation that exports learners. */
export type Learners = typeof analytics.learners
export type LearnersQuery = Omit<QueryInput<Learners>, 'format'>

/** The rows to export, how to request them, and their form. */
interface Wanted extends RowForm {
  readonly operation: Learners
  /** The query to send, without the format. */
  readonly query: LearnersQuery
  /** Applies the filters of the query; null for our own academies, and without filters. */
  readonly filter: PlatformFilter | null
  /** Encoding of the platform's CSV, which overrides what it declares. */
  readonly encoding?: string | undefined
  /** Hides the identities of learners; null shows them. */
  readonly pseudonymising?: Pseudonymising | null
}

/** The rows, form and target of an export. */
interface LearnerExport extends Wanted, ExportTarget {}

/** Returns the first request of an export, without its credential. */
export function exportRequest(caller: Caller, wanted: LearnerExport): OutgoingRequest {
  const { input, accept } = firstRequest(wanted)
  const request = caller.request(wanted.operation, input)
  return { ...request, headers: { ...request.headers, accept } }
}

/** Exports all rows; notes it if only the period leaves none. */
export async function exportLearners(context: Context, caller: Caller, wanted: LearnerExport): Promise<void> {
  const { operation, query } = wanted
  const rows = await writeExport(
    context,
    wanted,
    () => openSource(context, caller, wanted),
    () => expectedRows(context, caller, operation, { ...query, summary: 'false' }),
    () => wanted.filter?.assertJudged(),
  )
  await wanted.filter?.note()
  const { start_date: start, end_date: end, ...others } = query
  if (rows > 0 || (start === undefined && end === undefined)) return
  const counted = { ...others, summary: 'false' } as const
  const total = caller.isOurs() ? await expectedRows(context, caller, operation, counted) : null
  const all = total ? `; without a period there are ${formatCount(total)}` : ''
  await context.output.note(`No row has its lastAccessed in this period${all}`)
}

const media = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])

/** Returns the input and the media type of the first request. */
function firstRequest({
  query,
  format,
  columns,
  raw,
  bom,
  delimiter,
  pseudonymising,
}: Omit<Wanted, 'filter'>) {
  // Only unchanged CSV is requested as CSV; everything else is made from JSON rows.
  if (format !== 'csv' || columns !== null || delimiter !== ',' || pseudonymising) {
    return { input: { query: { ...query, format: 'ndjson' } }, accept: media.ndjson } as const
  }
  const as = { ...(raw && { raw: 'true' as const }), ...(bom && { bom: 'true' as const }) }
  return { input: { query: { ...query, ...as, format: 'csv' } }, accept: media.csv } as const
}

/** Opens the source of an export's bytes. */
async function openSource(context: Context, caller: Caller, wanted: Wanted): Promise<Source> {
  const { format, columns, delimiter } = wanted
  const { signal } = context.io
  if (wanted.pseudonymising) {
    const { pseudonymisedSource } = await import('./pseudonymised-export.ts')
    const rows = recordsOf(await rowTexts(caller, wanted, signal), wanted.operation)
    return pseudonymisedSource(context, wanted.pseudonymising, wanted, {
      operation: wanted.operation.id,
      rows,
    })
  }
  if (format === 'csv' && columns === null && delimiter === ',') return csvSource(context, caller, wanted)
  const rows = await rowTexts(caller, wanted, signal)
  // Rows that are exported unchanged need no parsing.
  if (columns === null && (format === 'json' || format === 'jsonl')) return textSource(rows.texts, format)
  return rowSource(context, rows, wanted)
}

/** Passes the server's own CSV through: counts it, filters it and guards it against formulas. */
async function csvSource(context: Context, caller: Caller, wanted: Wanted): Promise<Source> {
  const { operation, raw, bom, filter, encoding } = wanted
  const target = context.session.target()
  const { input, accept } = firstRequest(wanted)
  const reply = await caller.open(operation, { ...input, signal: context.io.signal }, { accept })
  const { assertWhole } = await import('../../client/foreign/walk.ts')
  const strict = caller.isOurs() || isStrict(reply.headers)
  const kept = strict ? null : filter
  const foreign = strict ? null : await import('../../client/foreign/csv.ts')
  const request = caller.request(operation, input)
  const csv = foreign
    ? await foreign.openCsv(reply, request, encoding)
    : { bytes: reply.body ?? nothing(), separator: ',', headed: true }
  const received = createCsvCounter(csv.separator)
  const counter = kept ? createCsvCounter(csv.separator) : received
  const rowsIn = ({ records }: CsvCounter) => Math.max(0, records() - (csv.headed ? 1 : 0))

  async function* counting(counter: CsvCounter, bytes: AsyncIterable<Uint8Array>) {
    for await (const piece of bytes) {
      counter.count(piece)
      yield piece
    }
    counter.end()
  }

  async function* bytes() {
    let source: AsyncIterable<Uint8Array> = csv.bytes
    if (foreign && kept) {
      source = foreign.filterRecords({ ...csv, bytes: counting(received, source) }, kept.rows, request)
    }
    if (mayDiffer(target) && !raw) source = guardCsv(source, csv.separator)
    if (bom && !strict) source = withByteOrderMark(source)
    yield* counting(counter, source)
    assertWhole(request, reply.headers, rowsIn(received))
  }

  return {
    bytes: bytes(),
    rows: () => rowsIn(counter),
    guarded: raw ? () => 0 : counter.guarded,
    notes: () => [
      ...(csv.headed ? [] : [`${platformName(target)} sent CSV without a header`]),
      ...(raw && !strict && counter.guarded() > 0
        ? [
            `The platform may have ignored --raw: possible formulas are escaped in ${pluralise(counter.guarded(), 'cell')}`,
          ]
        : []),
    ],
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** Adds a byte order mark unless there is one. */
async function* withByteOrderMark(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let head: Buffer | null = Buffer.alloc(0)
  for await (const piece of bytes) {
    if (head === null) {
      yield piece
      continue
    }
    head = Buffer.concat([head, piece])
    if (head.length < byteOrderMark.length) continue
    yield withMark(head)
    head = null
  }
  if (head !== null) yield withMark(head)
}

function withMark(head: Buffer): Buffer {
  return head.subarray(0, byteOrderMark.length).equals(byteOrderMark)
    ? head
    : Buffer.concat([byteOrderMark, head])
}

/** Passes JSON rows through, one per line or as an array. */
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
  return { bytes: bytes(), rows: () => rows, guarded: () => 0, notes: () => [] }
}

/** Parses JSON rows and encodes them in another format, or with chosen columns. */
async function rowSource(context: Context, learners: LearnerRows, wanted: Wanted): Promise<Source> {
  const { rowEncoder } = await import('./row-encoder.ts')
  let rows = 0
  let encoder: AnyEncoder | null = null
  async function* bytes() {
    for await (const values of recordsOf(learners, wanted.operation)) {
      encoder ??= await rowEncoder(context, wanted, values)
      rows += values.length
      yield rowBytes(encoder, values)
    }
    encoder ??= await rowEncoder(context, wanted, [])
    yield endBytes(encoder)
  }
  const notes = () => {
    const hidden = encoder && hiddenNote(encoder)
    return hidden === null ? [] : [hidden]
  }
  return { bytes: bytes(), rows: () => rows, guarded: () => encoder?.guarded?.() ?? 0, notes }
}

/** Parses rows, with the fields of the API. */
async function* recordsOf(
  { texts, isOwn }: LearnerRows,
  operation: Learners,
): AsyncGenerator<readonly unknown[]> {
  const foreign = isOwn ? null : await import('../../client/foreign/record.ts')
  for await (const batch of texts) {
    const rows = batch.map(parsedRow)
    if (rows.length > 0) yield foreign ? rows.map((row) => foreign.recordOf(row, operation)) : rows
  }
}

/** Media types of a stream of rows; any other is a document. */
const lineTypes = /\b(x-)?(ndjson|jsonl|json-?lines|jsonlines|stream\+json)\b/i

interface RowRequest {
  readonly operation: Learners
  readonly query: LearnersQuery
  /** Applies the filters of the query; null without any. */
  readonly filter: PlatformFilter | null
}

/** All rows, as JSON in batches. */
interface LearnerRows {
  readonly texts: AsyncIterable<readonly string[]>
  /** True for rows of a server of this API, which have its fields. */
  readonly isOwn: boolean
}

/**
 * Requests all rows: from a stream if the platform supports it, else page by page.
 */
async function rowTexts(
  caller: Caller,
  { operation, query, filter }: RowRequest,
  signal: AbortSignal,
): Promise<LearnerRows> {
  const type = 'application/x-ndjson'
  const { ApiError, ProtocolError } = await import('../../client/errors.ts')
  try {
    const input = { query: { ...query, format: 'ndjson' }, signal } as const
    const reply = await caller.open(operation, input, { accept: type })
    const { body, headers } = reply
    const strict = caller.isOurs() || isStrict(headers)
    if (!strict && !lineTypes.test(headers['content-type'] ?? '')) {
      const { discardBody } = await import('../../client/reply.ts')
      await discardBody(reply)
      return paged()
    }
    const { assertWhole } = await import('../../client/foreign/walk.ts')
    const lines = completeLines(body ?? [], (rows) =>
      assertWhole(caller.request(operation, input), headers, rows),
    )
    return strict ? { texts: lines, isOwn: true } : { texts: admittedLines(lines, filter), isOwn: false }
  } catch (error) {
    // The published interface only has csv: a platform without ndjson has its rows in JSON pages.
    const unknown =
      (error instanceof ApiError && !error.coded && [400, 406, 415, 422].includes(error.status)) ||
      (error instanceof ProtocolError && error.code === 'unexpected_type')
    if (!unknown) throw error
    return paged()
  }

  function paged(): LearnerRows {
    const pages = caller.pages(operation, { query, signal })
    return { texts: pagedTexts(filter ? filter.rows.pages(pages) : pages), isOwn: false }
  }
}

/** Returns all rows as JSON, in batches. */
export async function learnerRows(
  caller: Caller,
  request: RowRequest,
  signal: AbortSignal,
): Promise<AsyncIterable<readonly string[]>> {
  return (await rowTexts(caller, request, signal)).texts
}

/** Yields the lines of a stream; `check` gets the number of rows and throws if some are missing. */
async function* completeLines(
  body: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  check: (rows: number) => void,
): AsyncGenerator<string[]> {
  let rows = 0
  for await (const lines of splitLines(body)) {
    rows += lines.length
    yield lines
  }
  check(rows)
}

async function* splitLines(body: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const decode = (piece: Uint8Array) => {
    try {
      return decoder.decode(piece, { stream: true })
    } catch (cause) {
      throw new CommandError('not_utf8', 'failure', 'The platform sent a row that is not UTF-8', { cause })
    }
  }
  let rest = ''
  for await (const piece of body) {
    const lines = (rest + decode(piece)).split('\n')
    rest = lines.pop() ?? ''
    yield lines
  }
  if (rest === '') return
  // A stream may have no length, so only an incomplete last line shows that it was cut short.
  if (!isJson(rest))
    throw new CommandError('cut_short', 'unavailable', 'The export was cut short in its last row')
  yield [rest]
}

function isJson(text: string): boolean {
  try {
    return parseJson(text) !== undefined
  } catch {
    return false
  }
}

/** Yields the rows of another platform that the filter accepts. Each must be an object. */
async function* admittedLines(
  source: AsyncIterable<readonly string[]>,
  filter: PlatformFilter | null,
): AsyncGenerator<string[]> {
  const form: BatchForm<readonly ParsedLine[]> = {
    rows: (batch) => batch.map(({ row }) => row),
    keep: (batch, admitted) => batch.filter((_, index) => admitted[index]),
  }
  const lines = parsedLines(source)
  for await (const batch of filter ? filter.rows.batches(lines, form) : lines)
    yield batch.map(({ line }) => line)
}

interface ParsedLine {
  readonly line: string
  readonly row: JsonObject
}

async function* parsedLines(source: AsyncIterable<readonly string[]>): AsyncGenerator<readonly ParsedLine[]> {
  for await (const lines of source) {
    yield lines.flatMap((line) => {
      if (line.trim() === '') return []
      const row = parsedRow(line)
      if (!isJsonObject(row)) throw invalidRow()
      return [{ line, row }]
    })
  }
}

async function* pagedTexts(
  pages: AsyncIterable<{ readonly data: readonly unknown[] }>,
): AsyncGenerator<string[]> {
  for await (const { data } of pages) yield data.map((row) => jsonText(originalOf(row)))
}

/** Parses a row of JSON. Throws a CommandError. */
function parsedRow(text: string): unknown {
  try {
    return parseJson(text)
  } catch (cause) {
    throw invalidRow(cause)
  }
}

function invalidRow(cause?: unknown): CommandError {
  return new CommandError('invalid_row', 'failure', 'The platform sent a row that is not JSON', { cause })
}
