import { isStrict } from '../../client/call-input.ts'
import type { Caller } from '../../client/caller.ts'
import { platformName } from '../../config/target.ts'
import type { Context } from '../command/context.ts'
import type { PlatformFilter } from '../operation/platform-filter.ts'
import { hiddenNote, type ListEncoder } from '../output/formats/format.ts'
import { counted } from '../terminal/counted.ts'
import { type CsvCounter, csvCounter } from './csv-counter.ts'
import { type Learners, type LearnersQuery, parsedRow, rowTexts } from './learner-rows.ts'
import type { RowForm } from './row-encoder.ts'
import type { Source } from './write-export.ts'

/** Rows that are wanted, how they are asked for, and in which form. */
export interface Wanted extends RowForm {
  readonly operation: Learners
  /** The query as it is sent, but for the format. */
  readonly query: LearnersQuery
  /** Keeps to the filters of the query; null for an academy of ours, and where nothing is filtered. */
  readonly filter: PlatformFilter | null
  /** Encoding of the platform's CSV, whatever it declares. */
  readonly encoding?: string | undefined
  /** True for a platform elsewhere, which has to show that it did what was asked. */
  readonly remote: boolean
}

const media = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])

/** The input of the request that an export begins with, and the media type that it asks for. */
export function firstRequest({ query, format, columns, raw, bom, remote }: Omit<Wanted, 'filter'>) {
  const handling = remote ? ('strict' as const) : undefined
  // CSV comes as the platform writes it, all else from rows of JSON.
  if (format !== 'csv' || columns !== null) {
    return { input: { query: { ...query, format: 'ndjson' }, handling }, accept: media.ndjson } as const
  }
  const as = { ...(raw && { raw: 'true' as const }), ...(bom && { bom: 'true' as const }) }
  return { input: { query: { ...query, ...as, format: 'csv' }, handling }, accept: media.csv } as const
}

/** Where the bytes of an export come from. */
export async function sourceOf(context: Context, caller: Caller, wanted: Wanted): Promise<Source> {
  const { format, columns } = wanted
  const { signal } = context.io
  if (format === 'csv' && columns === null) return csvSource(context, caller, wanted)
  const batches = await rowTexts(caller, wanted, signal)
  // Rows that are wanted as they come need not be understood.
  if (columns === null && (format === 'json' || format === 'jsonl')) return textSource(batches, format)
  return rowSource(context, batches, wanted)
}

/** The server's own bytes, counted as they go by: what its filters rule out is left out, and formulas get their guard. */
async function csvSource(context: Context, caller: Caller, wanted: Wanted): Promise<Source> {
  const { operation, raw, bom, remote, filter, encoding } = wanted
  const { input, accept } = firstRequest(wanted)
  const reply = await caller.open(operation, { ...input, signal: context.io.signal }, { accept })
  const { assertWhole } = await import('../../client/foreign/walk.ts')
  const strict = !remote || isStrict(reply.headers)
  const kept = strict ? null : filter
  const { openCsv } = strict ? { openCsv: null } : await import('./csv-opening.ts')
  const csv = openCsv
    ? await openCsv(reply, caller.request(operation, input), encoding)
    : { bytes: reply.body ?? nothing(), separator: ',', headed: true }
  const received = csvCounter(csv.separator)
  const counter = kept ? csvCounter(csv.separator) : received
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
    if (kept) {
      const { keptRecords } = await import('./csv-records.ts')
      source = keptRecords(counting(received, source), kept, csv)
    }
    if (remote && !raw) source = (await import('./csv-guard.ts')).guardedCsv(source, csv.separator)
    if (bom && !strict) source = marked(source)
    yield* counting(counter, source)
    assertWhole(caller.request(operation, input), reply.headers, rowsIn(received))
  }

  return {
    bytes: bytes(),
    rows: () => rowsIn(counter),
    guarded: raw ? () => 0 : counter.guarded,
    notes: () => [
      ...(csv.headed ? [] : [`${platformName(context.session.target())} sent CSV without a header`]),
      ...(raw && !strict && counter.guarded() > 0
        ? [
            `The platform may have ignored --raw: possible formulas are escaped in ${counted(counter.guarded(), 'cell')}`,
          ]
        : []),
    ],
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** The bytes with a byte order mark, which they may have. */
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
  return { bytes: bytes(), rows: () => rows, guarded: () => 0, notes: () => [] }
}

/** Rows of JSON, understood and written anew: in other formats, and with chosen columns. */
async function rowSource(
  context: Context,
  batches: AsyncIterable<readonly string[]>,
  wanted: Wanted,
): Promise<Source> {
  const { rowEncoder } = await import('./row-encoder.ts')
  const counter = csvCounter()
  let rows = 0
  let encoder: ListEncoder | null = null
  async function* texts() {
    for await (const batch of batches) {
      if (batch.length === 0) continue
      const values = batch.map(parsedRow)
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
  const notes = () => {
    const hidden = encoder && hiddenNote(encoder)
    return hidden === null ? [] : [hidden]
  }
  const guarded = wanted.format === 'csv' && !wanted.raw ? counter.guarded : () => 0
  return { bytes: bytes(), rows: () => rows, guarded, notes }
}
