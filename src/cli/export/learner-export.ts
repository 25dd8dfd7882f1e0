import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { OutgoingRequest } from '../../client/call.ts'
import type { Caller } from '../../client/caller.ts'
import { ApiError } from '../../client/errors.ts'
import type { StreamedResponse } from '../../client/reply.ts'
import { countGuards } from '../../codec/csv.ts'
import { formatCount } from '../../codec/display-text.ts'
import { isJsonObject, jsonText, parseJson, parseJsonOrNull } from '../../codec/json-text.ts'
import { makeDirectory, readRegularFile } from '../../config/files.ts'
import { platformName } from '../../config/target.ts'
import type { analytics } from '../../contract/analytics.ts'
import { calls } from '../../contract/calls.ts'
import type { LearnerChange, LearnerChangePage } from '../../contract/data-tables.ts'
import type { QueryInput } from '../../contract/operation.ts'
import { labelColumns } from '../../tables/column.ts'
import type { Context } from '../command/context.ts'
import { typeColumns } from '../output/formats/format.ts'
import type { Pseudonymising } from '../pseudonyms/pseudonyms.ts'
import {
  type ExportTarget,
  encodedSource,
  expectedRows,
  type Source,
  writeExport,
} from '../targets/write-export.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import { writeTarget } from '../terminal/target-file.ts'
import { pseudonymisedSource } from './list-export.ts'
import { listEncoder, type RowForm, resolveColumns, rowColumns } from './row-encoder.ts'

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

/** Without its credential. */
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

/** An academy guards it against formulas, and the client that of other platforms. */
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

  /** The last record may lack its line end (RFC 4180 §2). */
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

/** Each with the comma before it. */
const cells = /,(?:"((?:[^"]|"")*)"|([^,]*))/g

/** Place up to which an export has the changes of a platform. */
interface ExportState {
  readonly kind: typeof kind
  readonly version: 1
  readonly platform: string
  readonly courses: string | null
  readonly learners: string | null
  readonly until: string
}

const kind = 'learnctl export'
const maxStateBytes = 64 * 1024
const stateName = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/

/** No change of a record can end them. */
const lastingFilters = ['course_id', 'learner_id']

interface ChangedExport extends RowForm, ExportTarget {
  readonly query: LearnersQuery
  /** A path, or a name in the state directory. */
  readonly since: string
  readonly flagOf: (parameter: string) => string
}

/** All rows the first time; a column says which were removed. The state is replaced once the export is complete. */
export async function exportChangedLearners(
  context: Context,
  caller: Caller,
  wanted: ChangedExport,
): Promise<void> {
  const { query, since, flagOf } = wanted
  const other = Object.keys(query).find((name) => !lastingFilters.includes(name))
  if (other) {
    throw new UsageError(`--since-last and ${flagOf(other)} cannot be used together`, {
      why: ['A row that no longer matches would not be known as removed'],
    })
  }
  if (wanted.sheet) throw new UsageError('--since-last and --to-sheet cannot be used together')
  const path = statePath(context, since)
  const identity = {
    platform: platformName(context.session.target()),
    courses: textOf(query.course_id),
    learners: textOf(query.learner_id),
  }
  const before = readState(path, identity)
  const columns = chosenColumns(wanted.columns)
  const typed = () => typeColumns(columns, calls.analytics.learners.id)
  const form = { csv: columns, table: columns, chosen: wanted.columns && columns, typed }
  let until = before?.until ?? (await changesAfter(context, caller, {}, undefined)).until

  async function* allRows() {
    const wanted = { operation: calls.analytics.learners, query }
    for await (const texts of learnerRows(caller, wanted, context.io.signal)) {
      yield texts.map((text) => ({ ...(JSON.parse(text) as object), [stateColumn]: 'current' }))
    }
  }

  async function* changedRows() {
    const changed = new Map<string, LearnerChange>()
    for (;;) {
      const page: LearnerChangePage = await changesAfter(context, caller, query, until)
      for (const row of page.data) {
        const key = `${row.learnerId} ${row.courseId}`
        // In the order of the last change: a removed course that was restored has its rows after it.
        changed.delete(key)
        changed.set(key, row)
      }
      until = page.until
      if (page.nextCursor === null) break
    }
    yield [...changed.values()].map(({ learnerId, courseId, state, row }) => ({
      ...Object.fromEntries(rowColumns.map((name) => [name, null])),
      ...(row ?? { learnerId, courseId }),
      [stateColumn]: state,
    }))
  }

  try {
    const load = () => listEncoder(context, wanted, form)
    await writeExport(context, wanted, async () => encodedSource(before ? changedRows() : allRows(), load))
  } catch (error) {
    throw error instanceof ApiError && error.code === 'changes_gone' ? gone(error, path) : error
  }
  await writeState(context, path, { kind, version: 1, ...identity, until })
}

const stateColumn = 'changeState'

function chosenColumns(names: readonly string[] | null) {
  const all = [...rowColumns, stateColumn]
  if (names === null) return labelColumns(all, all)
  const sample = Object.fromEntries(all.map((name) => [name, null]))
  return resolveColumns(names.includes(stateColumn) ? names : [...names, stateColumn], [sample])
}

async function changesAfter(
  { io: { signal } }: Context,
  caller: Caller,
  query: LearnersQuery,
  after: string | undefined,
): Promise<LearnerChangePage> {
  const input = { query: { ...query, ...(after !== undefined && { after }) }, signal }
  return (await caller.call(calls.analytics.learnerChanges, input as object)).data
}

function textOf(value: unknown): string | null {
  return value === undefined ? null : String(value)
}

function statePath({ io, directories }: Context, given: string): string {
  if (stateName.test(given)) return join(directories.state, 'exports', `${given}.json`)
  if (/[\\/]|\.json$/.test(given)) return resolve(io.cwd, given)
  throw new UsageError(`--since-last must be a name or a file, not ${JSON.stringify(given)}`, {
    why: ['A name has letters, digits, - and _; a file ends in .json or has a path'],
  })
}

/** Null before the first. Throws a UsageError for one of another platform or filter. */
function readState(
  path: string,
  identity: Pick<ExportState, 'platform' | 'courses' | 'learners'>,
): Pick<ExportState, 'until'> | null {
  if (!existsSync(path)) return null
  const state = parseJsonOrNull(readRegularFile(path, maxStateBytes))
  const hint = `Use another name, or remove ${path} to export all rows again`
  if (!isJsonObject(state) || state['kind'] !== kind || state['version'] !== 1) {
    throw new UsageError(`${path} is not the state of an export`, { hint })
  }
  for (const [field, value] of Object.entries(identity)) {
    if (state[field] === value) continue
    throw new UsageError(
      `${path} is the state of an export with other ${field === 'platform' ? 'data' : field}`,
      {
        why: [`It was ${state[field] ?? 'all'}, and is ${value ?? 'all'} now`],
        hint,
      },
    )
  }
  return { until: String(state['until']) }
}

async function writeState({ io, directories }: Context, path: string, state: ExportState): Promise<void> {
  if (path.startsWith(join(directories.state, 'exports'))) {
    makeDirectory(join(directories.state, 'exports'), 'XDG_STATE_HOME')
  }
  await writeTarget(io.cwd, path, [`${JSON.stringify(state, null, 2)}\n`], { force: true, mode: 0o600 })
}

function gone(cause: ApiError, path: string): CommandError {
  return new CommandError('changes_gone', 'conflict', 'What has changed since the last export is not known', {
    cause,
    why: [
      'The platform is another one, was restored from a backup, or the last export was more than 180 days ago',
    ],
    hint: `Remove ${path} to export all rows again`,
  })
}
