import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { csvText } from '../../codec/csv.ts'
import { isJsonObject, parseJsonOrNull } from '../../codec/json-text.ts'
import { makeDirectory, readRegularFile } from '../../config/files.ts'
import type { EncodedColumn, Sink, TableEncoder } from '../../tables/column.ts'
import type { DatasetTable } from '../../tables/dictionary.ts'
import type { CoarseTime } from '../pseudonyms/pseudonyms.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import { openTarget, type TargetFile, writeTarget } from '../terminal/target-file.ts'

/** State of a row. `erased`: the data of the user may not be kept. */
type RowState = 'current' | 'removed' | 'erased'

/** A row of the feed; it has fields only if it is current. */
export interface ChangedRow {
  readonly table: string
  readonly key: Readonly<Record<string, unknown>>
  readonly state: RowState
  readonly record: Readonly<Record<string, unknown>> | null
}

const changeColumns = [
  {
    name: 'changeNumber',
    path: 'changeNumber',
    type: 'integer',
    meaning:
      'Number of the row over all tables and runs: of rows with the same key, the one with the highest number counts',
  },
  {
    name: 'changeState',
    path: 'changeState',
    type: 'string',
    meaning:
      'current; removed if the row is there no longer; erased if it was a user whose data may not be kept',
  },
] as const satisfies readonly EncodedColumn[]

export function columnsOf({ columns }: DatasetTable): readonly EncodedColumn[] {
  return [...columns, ...changeColumns]
}

interface OpenFile {
  readonly table: string
  readonly path: string
  readonly target: TargetFile
  readonly encoder: TableEncoder
  rows: number
}

interface RunOptions {
  readonly number: number
  readonly format: DatasetFormat
  /** Number of the last row of the run before. */
  readonly lastChange: number
  readonly tables: readonly DatasetTable[]
}

/** Writes the files of a run, each opened with its first row. */
export class RunWriter {
  readonly #directory: string
  readonly #options: RunOptions
  readonly #files = new Map<string, OpenFile>()
  #number: number

  constructor(directory: string, options: RunOptions) {
    this.#directory = directory
    this.#options = options
    this.#number = options.lastChange
  }

  /** Opens all files at once: each table then has a file with its columns. */
  async openAll(): Promise<void> {
    for (const table of this.#options.tables) await this.#open(table)
  }

  async add(rows: readonly ChangedRow[]): Promise<void> {
    for (const [name, own] of Map.groupBy(rows, (row) => row.table)) {
      const table = this.#options.tables.find((each) => each.name === name)
      // A newer platform may have more tables.
      if (!table) continue
      const file = this.#files.get(name) ?? (await this.#open(table))
      file.rows += own.length
      await file.encoder.rows(
        own.map(({ key, record, state }) => {
          this.#number += 1
          return { ...(record ?? key), changeNumber: this.#number, changeState: state }
        }),
      )
    }
  }

  rows(): number {
    return this.#number - this.#options.lastChange
  }

  async finish(): Promise<readonly RunFile[]> {
    for (const { encoder } of this.#files.values()) await encoder.end()
    for (const { target } of this.#files.values()) await target.finish()
    return this.#options.tables.flatMap(({ name }) => {
      const file = this.#files.get(name)
      return file ? [{ table: name, path: file.path, rows: file.rows }] : []
    })
  }

  async discard(): Promise<void> {
    for (const { target } of this.#files.values()) await target.discard()
  }

  async #open(table: DatasetTable): Promise<OpenFile> {
    const { number, format } = this.#options
    const path = runPath(table.name, number, format)
    const target = await openTarget(this.#directory, path, { force: true, mode: 0o600 })
    const encoder = await encoderOf(format, columnsOf(table), (bytes) => target.write(bytes))
    const file = { table: table.name, path, target, encoder, rows: 0 }
    this.#files.set(table.name, file)
    return file
  }
}

async function encoderOf(
  format: DatasetFormat,
  columns: readonly EncodedColumn[],
  sink: Sink,
): Promise<TableEncoder> {
  if (format === 'parquet') return (await import('../../tables/parquet.ts')).parquetEncoder(columns, sink)
  const write = async (text: string) => sink(Buffer.from(text))
  if (format === 'csv') await write(`${columns.map(({ name }) => name).join(',')}\r\n`)
  const line = format === 'csv' ? csvLine : jsonLine
  return {
    rows: (records) => write(records.map((record) => line(columns, record as ChangedRow['key'])).join('')),
    end: async () => {},
  }
}

/** RFC 4180: null is nothing, empty text `""`. No text is changed: the files are for programs. */
function csvLine(columns: readonly EncodedColumn[], record: ChangedRow['key']): string {
  const cells = columns.map(({ path }) => {
    const value = record[path] ?? null
    if (value === null) return ''
    if (typeof value !== 'string') return String(value)
    return value === '' ? '""' : csvText(value, true)
  })
  return `${cells.join(',')}\r\n`
}

function jsonLine(columns: readonly EncodedColumn[], record: ChangedRow['key']): string {
  return `${JSON.stringify(Object.fromEntries(columns.map(({ name, path }) => [name, record[path] ?? null])))}\n`
}

export const datasetFormats = ['parquet', 'csv', 'jsonl'] as const
export type DatasetFormat = (typeof datasetFormats)[number]

interface RunFile {
  readonly table: string
  /** Relative to the folder, with slashes. */
  readonly path: string
  readonly rows: number
}

export interface Run {
  readonly number: number
  /** ISO 8601 in UTC. */
  readonly at: string
  readonly files: readonly RunFile[]
}

export interface DatasetPseudonyms {
  readonly key: string
  /** Null if times are exact. */
  readonly times: CoarseTime | null
}

/** Contents of a data set. It is replaced when all files of a run are there: that completes the run. */
export interface Manifest {
  readonly kind: typeof kind
  readonly version: 1
  /** Id of all runs since the last full one. */
  readonly id: string
  /** By its address or file. */
  readonly platform: string
  readonly format: DatasetFormat
  readonly pseudonyms: DatasetPseudonyms | null
  /** Place in the changes of the platform. */
  readonly until: string
  /** Number of the last row, over all tables and runs. */
  readonly lastChange: number
  readonly runs: readonly Run[]
}

const kind = 'learnctl dataset'
const manifestName = 'manifest.json'
const maxManifestBytes = 64 * 1024 * 1024

/** Null for a new or empty folder. Throws a UsageError for a folder with other files. */
export function readManifest(directory: string, name: string): Manifest | null {
  const path = join(directory, manifestName)
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() === false) {
    throw new UsageError(`${name} is a file, not a folder`, { hint: 'Name a new or empty folder' })
  }
  if (!existsSync(path)) {
    const others = existsSync(directory) ? readdirSync(directory).filter((each) => !isOwnName(each)) : []
    if (others.length === 0) return null
    throw new UsageError(`${name} is not a data set: it has no ${manifestName}`, {
      why: [`It has other files, such as ${others[0]}`],
      hint: 'Name a new or empty folder',
    })
  }
  const manifest = parseJsonOrNull(readRegularFile(path, maxManifestBytes))
  if (!isManifest(manifest)) {
    throw new UsageError(`${join(name, manifestName)} is damaged, or of a newer version of learnctl`, {
      hint: 'Name another folder, or remove this one',
    })
  }
  return manifest
}

/** Throws a UsageError if a file of the manifest is missing: what a load script would read is incomplete. */
export function requireFiles(directory: string, { runs }: Manifest, name: string): void {
  const paths = runs.flatMap(({ files }) => files.map(({ path }) => path))
  const missing = paths.filter((path) => !existsSync(join(directory, path)))
  if (missing.length === 0) return
  throw new UsageError(`${name} is incomplete: ${missing[0]} is missing`, {
    why: missing.length > 1 ? [`${missing.length - 1} other files of its manifest are missing, too`] : [],
    hint: `Put it back, or begin again with: learnctl analytics dataset ${name} --full`,
  })
}

function isManifest(value: unknown): value is Manifest {
  if (!isJsonObject(value) || value['kind'] !== kind || value['version'] !== 1) return false
  const texts = ['id', 'platform', 'until'].every((field) => typeof value[field] === 'string')
  const isKnown = datasetFormats.some((format) => format === value['format'])
  const { pseudonyms = null } = value
  if (pseudonyms !== null && !isJsonObject(pseudonyms)) return false
  return texts && isKnown && Number.isSafeInteger(value['lastChange']) && Array.isArray(value['runs'])
}

export function newManifest(
  { platform, format, pseudonyms }: Pick<Manifest, 'platform' | 'format' | 'pseudonyms'>,
  before: Manifest | null,
): Manifest {
  const runs = before?.runs.slice(-1).map((run) => ({ ...run, files: [] })) ?? []
  return { kind, version: 1, id: randomUUID(), platform, format, pseudonyms, until: '', lastChange: 0, runs }
}

export function nextRun({ runs }: Manifest): number {
  return (runs.at(-1)?.number ?? 0) + 1
}

export async function writeManifest(directory: string, manifest: Manifest): Promise<void> {
  await writeText(directory, manifestName, `${JSON.stringify(manifest, null, 2)}\n`)
}

/** Replaces the file completely or not at all. */
export async function writeText(directory: string, name: string, text: string): Promise<void> {
  await writeTarget(directory, name, [text], { force: true, mode: 0o600 })
}

const runName = /^run-\d{6,}\.(?:parquet|csv|jsonl)$/
const partName = /\.part$/
const lockName = '.lock'

/** Names that a run without a manifest may have left, besides the folders of its tables. */
function isOwnName(name: string): boolean {
  return name === lockName || name.startsWith(`${lockName}.`) || partName.test(name) || name === tablesName
}

const tablesName = 'tables'

function runPath(table: string, run: number, format: DatasetFormat): string {
  return `${tablesName}/${table}/run-${String(run).padStart(6, '0')}.${format}`
}

export function makeFolders(directory: string, tables: readonly string[]): void {
  for (const table of tables) makeDirectory(join(directory, tablesName, table), null)
}

/** Files of interrupted runs, and of those before the last full one. */
export function removeOtherRuns(
  directory: string,
  manifest: Manifest | null,
  tables: readonly string[],
): void {
  const named = new Set(manifest?.runs.flatMap(({ files }) => files.map(({ path }) => path)))
  for (const table of tables) {
    const folder = join(directory, tablesName, table)
    for (const name of existsSync(folder) ? readdirSync(folder) : []) {
      const isOurs = runName.test(name) || partName.test(name)
      if (isOurs && !named.has(`${tablesName}/${table}/${name}`)) rmSync(join(folder, name), { force: true })
    }
  }
}

export function lockPath(directory: string): string {
  return join(directory, lockName)
}

export function folderBusy(name: string, pid: number | null): CommandError {
  return new CommandError('dataset_busy', 'conflict', `Another process writes to ${name}`, {
    ...(pid !== null && { why: [`Its process id is ${pid}`] }),
    hint: 'Wait until it has ended, and run the command again',
  })
}
