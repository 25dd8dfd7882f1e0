import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isJsonObject, parseJsonOrNull } from '../../codec/json-text.ts'
import { makeDirectory, readRegularFile } from '../../config/files.ts'
import type { CoarseTime } from '../pseudonyms/pseudonyms.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import { writeTarget } from '../terminal/target-file.ts'

export const datasetFormats = ['parquet', 'csv', 'jsonl'] as const
export type DatasetFormat = (typeof datasetFormats)[number]

export interface RunFile {
  readonly table: string
  /** Path in the folder, with slashes. */
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
  /** Null for exact times. */
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
  /** Place in the changes of the platform up to which the data set has them. */
  readonly until: string
  /** Number of the last row, over all tables and runs. */
  readonly lastChange: number
  readonly runs: readonly Run[]
}

const kind = 'learnctl dataset'
const manifestName = 'manifest.json'
const maxManifestBytes = 64 * 1024 * 1024

/** Reads the manifest of a folder; null for a new or empty one. Throws a UsageError for a folder with other files. */
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

/** The manifest has no runs yet. */
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

/** True for a name that a run without a manifest may have left, besides the folders of its tables. */
function isOwnName(name: string): boolean {
  return name === lockName || name.startsWith(`${lockName}.`) || partName.test(name) || name === tablesName
}

const tablesName = 'tables'

export function runPath(table: string, run: number, format: DatasetFormat): string {
  return `${tablesName}/${table}/run-${String(run).padStart(6, '0')}.${format}`
}

export function makeFolders(directory: string, tables: readonly string[]): void {
  for (const table of tables) makeDirectory(join(directory, tablesName, table), null)
}

/** Removes files of runs that the manifest does not name: those of interrupted ones, and of those before the last full one. */
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
