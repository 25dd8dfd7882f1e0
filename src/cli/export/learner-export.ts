import type { OutgoingRequest } from '../../client/call.ts'
import type { Caller } from '../../client/caller.ts'
import { isStrict } from '../../client/reply.ts'
import { mayDiffer, platformName } from '../../config/target.ts'
import type { Context } from '../command/context.ts'
import type { PlatformFilter } from '../operation/judge-list.ts'
import { hiddenNote, type ListEncoder } from '../output/formats/format.ts'
import { pluralise } from '../terminal/format-text.ts'
import { type CsvCounter, createCsvCounter, guardCsv } from './csv-bytes.ts'
import { type LearnerRows, type Learners, type LearnersQuery, parsedRow, rowTexts } from './learner-rows.ts'
import type { RowForm } from './row-encoder.ts'
import { type ExportTarget, expectedRows, type Source, writeExport } from './write-export.ts'

/** The rows to export, how to request them, and their form. */
export interface Wanted extends RowForm {
  readonly operation: Learners
  /** The query to send, without the format. */
  readonly query: LearnersQuery
  /** Applies the filters of the query; null for our own academies, and without filters. */
  readonly filter: PlatformFilter | null
  /** Encoding of the platform's CSV, which overrides what it declares. */
  readonly encoding?: string | undefined
}

const media = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])

/** Returns the input and the media type of the first request. */
export function firstRequest({ query, format, columns, raw, bom }: Omit<Wanted, 'filter'>) {
  // Only unchanged CSV is requested as CSV; everything else is made from JSON rows.
  if (format !== 'csv' || columns !== null) {
    return { input: { query: { ...query, format: 'ndjson' } }, accept: media.ndjson } as const
  }
  const as = { ...(raw && { raw: 'true' as const }), ...(bom && { bom: 'true' as const }) }
  return { input: { query: { ...query, ...as, format: 'csv' } }, accept: media.csv } as const
}

/** Opens the source of an export's bytes. */
export async function sourceOf(context: Context, caller: Caller, wanted: Wanted): Promise<Source> {
  const { format, columns } = wanted
  const { signal } = context.io
  if (format === 'csv' && columns === null) return csvSource(context, caller, wanted)
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
      source = foreign.filterRecords({ ...csv, bytes: counting(received, source) }, kept, request)
    }
    if (mayDiffer(target) && !raw) source = guardCsv(source, csv.separator)
    if (bom && !strict) source = marked(source)
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
async function* marked(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
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
async function rowSource(context: Context, { texts, isOwn }: LearnerRows, wanted: Wanted): Promise<Source> {
  const { rowEncoder } = await import('./row-encoder.ts')
  const foreign = isOwn ? null : await import('../../client/foreign/record.ts')
  const rowOf = (text: string) => {
    const row = parsedRow(text)
    return foreign ? foreign.recordOf(row, wanted.operation) : row
  }
  let rows = 0
  let encoder: ListEncoder | null = null
  async function* bytes() {
    for await (const batch of texts) {
      if (batch.length === 0) continue
      const values = batch.map(rowOf)
      encoder ??= await rowEncoder(context, wanted, values)
      rows += values.length
      yield Buffer.from(encoder.rows(values))
    }
    encoder ??= await rowEncoder(context, wanted, [])
    yield Buffer.from(encoder.end())
  }
  const notes = () => {
    const hidden = encoder && hiddenNote(encoder)
    return hidden === null ? [] : [hidden]
  }
  return { bytes: bytes(), rows: () => rows, guarded: () => encoder?.guarded?.() ?? 0, notes }
}

/** The rows, form and target of an export. */
export interface LearnerExport extends Wanted, ExportTarget {}

/** Returns the first request of an export, without its credential. */
export function exportRequest(caller: Caller, wanted: LearnerExport): OutgoingRequest {
  const { input, accept } = firstRequest(wanted)
  const request = caller.request(wanted.operation, input)
  return { ...request, headers: { ...request.headers, accept } }
}

/** Exports all rows. */
export async function exportLearners(context: Context, caller: Caller, wanted: LearnerExport): Promise<void> {
  const { operation, query } = wanted
  await writeExport(
    context,
    wanted,
    () => sourceOf(context, caller, wanted),
    () => expectedRows(context, caller, operation, { ...query, summary: 'false' }),
    () => wanted.filter?.assertJudged(),
  )
  await wanted.filter?.note()
}
