import type { OutgoingRequest } from '../../client/call.ts'
import type { Caller } from '../../client/caller.ts'
import { ApiError } from '../../client/errors.ts'
import type { StreamedResponse } from '../../client/reply.ts'
import { countGuards } from '../../codec/csv.ts'
import { formatCount } from '../../codec/display-text.ts'
import { jsonText, parseJson } from '../../codec/json-text.ts'
import type { analytics } from '../../contract/analytics.ts'
import type { QueryInput } from '../../contract/operation.ts'
import type { Context } from '../command/context.ts'
import type { Pseudonymising } from '../pseudonyms/pseudonyms.ts'
import {
  type ExportTarget,
  encodedSource,
  expectedRows,
  type Source,
  writeExport,
} from '../targets/write-export.ts'
import { CommandError } from '../terminal/errors.ts'
import { pseudonymisedSource } from './list-export.ts'
import type { RowForm } from './row-encoder.ts'

export type Learners = typeof analytics.learners
export type LearnersQuery = Omit<QueryInput<Learners>, 'format'>

interface Wanted extends RowForm {
  readonly operation: Learners
  readonly query: LearnersQuery
  /** Set for rows that need not be inside the filters. */
  readonly handling?: 'lenient'
  /** Null shows the identities of learners. */
  readonly pseudonymising?: Pseudonymising | null
}

interface LearnerExport extends Wanted, ExportTarget {}

/** The first request, without its credential. */
export function exportRequest(caller: Caller, wanted: LearnerExport): OutgoingRequest {
  const { input, accept } = firstRequest(wanted)
  const request = caller.request(wanted.operation, input)
  return { ...request, headers: { ...request.headers, accept } }
}

/** Notes it if only the period leaves no rows. */
export async function exportLearners(context: Context, caller: Caller, wanted: LearnerExport): Promise<void> {
  const { operation, query } = wanted
  const rows = await writeExport(
    context,
    wanted,
    () => openSource(context, caller, wanted),
    () => expectedRows(context, caller, operation, { ...query, summary: 'false' }),
  )
  const { start_date: start, end_date: end, ...others } = query
  if (rows > 0 || (start === undefined && end === undefined)) return
  const counted = { ...others, summary: 'false' } as const
  const total = caller.isOurs() ? await expectedRows(context, caller, operation, counted) : null
  const all = total ? `; without a period there are ${formatCount(total)}` : ''
  await context.output.note(`No row has its lastAccessed in this period${all}`)
}

const media = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const

/** CSV as the platform writes it; everything else is made from JSON rows. */
function isPassedOn({ format, columns, delimiter, pseudonymising }: Wanted): boolean {
  return format === 'csv' && columns === null && delimiter === ',' && !pseudonymising
}

function firstRequest(wanted: Wanted) {
  const { query, raw, bom, handling } = wanted
  const how = handling && { handling }
  if (!isPassedOn(wanted)) {
    return { input: { ...how, query: { ...query, format: 'ndjson' } }, accept: media.ndjson } as const
  }
  const as = { ...(raw && { raw: 'true' as const }), ...(bom && { bom: 'true' as const }) }
  return { input: { ...how, query: { ...query, ...as, format: 'csv' } }, accept: media.csv } as const
}

async function openSource(context: Context, caller: Caller, wanted: Wanted): Promise<Source> {
  if (isPassedOn(wanted)) return csvSource(context, caller, wanted)
  const { operation, format, columns, pseudonymising } = wanted
  const rows = learnerRows(caller, wanted, context.io.signal)
  if (pseudonymising)
    return pseudonymisedSource(context, pseudonymising, wanted, operation.id, recordsOf(rows))
  const { jsonEncoder, rowEncoder } = await import('./row-encoder.ts')
  // Rows that are exported unchanged need no parsing.
  if (columns === null && (format === 'json' || format === 'jsonl'))
    return encodedSource(rows, () => jsonEncoder(format, String))
  return encodedSource(recordsOf(rows), (sample) => rowEncoder(context, wanted, sample))
}

/** Passes CSV through, which an academy guards against formulas, as the client does for other platforms. */
async function csvSource(context: Context, caller: Caller, wanted: Wanted): Promise<Source> {
  const { input, accept } = firstRequest(wanted)
  const { body } = await caller.open(wanted.operation, { ...input, signal: context.io.signal }, { accept })
  const counter = new CsvCounter()

  async function* bytes() {
    for await (const piece of body ?? []) {
      counter.count(piece)
      yield piece
    }
    counter.end()
  }

  return {
    bytes: bytes(),
    rows: () => Math.max(0, counter.records - 1),
    guarded: () => (wanted.raw ? 0 : counter.guarded),
    notes: () => [],
  }
}

async function* recordsOf(texts: LearnerRows): AsyncGenerator<readonly unknown[]> {
  for await (const batch of texts) if (batch.length > 0) yield batch.map(parsedRow)
}

type RowRequest = Pick<Wanted, 'operation' | 'query' | 'handling'>

type LearnerRows = AsyncGenerator<readonly string[]>

/** Streams if the platform offers that, else reads page by page. */
export async function* learnerRows(
  caller: Caller,
  { operation, query, handling }: RowRequest,
  signal: AbortSignal,
): LearnerRows {
  const how = { signal, ...(handling && { handling }) }
  let stream: StreamedResponse
  try {
    const input = { ...how, query: { ...query, format: 'ndjson' } } as const
    stream = await caller.open(operation, input, { accept: media.ndjson })
  } catch (error) {
    // The published interface only has csv: a platform without ndjson has its rows in JSON pages.
    const isUnknown = error instanceof ApiError && !error.coded && [400, 406, 415, 422].includes(error.status)
    if (!isUnknown) throw error
    for await (const { data } of caller.pages(operation, { ...how, query }))
      yield data.map((row) => jsonText(row))
    return
  }
  yield* splitLines(stream.body ?? [])
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
  try {
    parseJson(rest)
  } catch {
    // A stream may have no length, so only an incomplete last line shows that it was cut short.
    throw new CommandError('cut_short', 'unavailable', 'The export was cut short in its last row')
  }
  yield [rest]
}

function parsedRow(text: string): unknown {
  try {
    return parseJson(text)
  } catch (cause) {
    throw new CommandError('invalid_row', 'failure', 'The platform sent a row that is not JSON', { cause })
  }
}

/** Counts records and guards of a CSV as `csvRecord` writes it, a piece at a time. */
export class CsvCounter {
  /** RFC 4180, including the header. */
  records = 0
  guarded = 0
  readonly #decoder = new TextDecoder()
  #record = ''

  count(bytes: Uint8Array): void {
    const lines = this.#decoder.decode(bytes, { stream: true }).split('\n')
    for (const [index, line] of lines.entries()) {
      this.#record += line
      if (index === lines.length - 1) return
      const isInQuotes = this.#record.includes('"') && this.#record.split('"').length % 2 === 0
      if (isInQuotes) this.#record += '\n'
      else this.end()
    }
  }

  /** Ends a record; the last one may lack its line end (RFC 4180 §2). */
  end(): void {
    if (this.#record === '') return
    this.records += 1
    if (this.#record.includes("'")) {
      const record = `,${this.#record.replace(/\r$/, '')}`
      for (const [, quoted, plain = ''] of record.matchAll(cells))
        this.guarded += countGuards(quoted ?? plain)
    }
    this.#record = ''
  }
}

/** Cells of a record, each with the comma before it. */
const cells = /,(?:"((?:[^"]|"")*)"|([^,]*))/g
