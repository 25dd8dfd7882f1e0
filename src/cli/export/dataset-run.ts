import { resolve } from 'node:path'
import type { Caller } from '../../client/caller.ts'
import { ApiError } from '../../client/errors.ts'
import { makeDirectory } from '../../config/files.ts'
import { lockHolder, tryLock } from '../../config/lock.ts'
import { calls } from '../../contract/calls.ts'
import type { DataChangePage } from '../../contract/data-tables.ts'
import type { Operation } from '../../contract/operation.ts'
import { datasetTables } from '../../tables/dictionary.ts'
import type { Context } from '../command/context.ts'
import type { Pseudonymising } from '../pseudonyms/pseudonyms.ts'
import type { Batches } from '../targets/write-export.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import { createProgressLine } from '../terminal/progress-line.ts'
import {
  type ChangedRow,
  type DatasetFormat,
  folderBusy,
  lockPath,
  type Manifest,
  makeFolders,
  newManifest,
  nextRun,
  RunWriter,
  readManifest,
  removeOtherRuns,
  requireFiles,
  writeManifest,
} from './dataset-files.ts'
import { tablesOf, writeDescription } from './dataset-sql.ts'

interface DatasetOptions {
  readonly name: string
  /** Undefined for that of the folder, or Parquet. */
  readonly format: DatasetFormat | undefined
  /** Begins again, without the files that are there. */
  readonly isFull: boolean
  /** By its address or file. */
  readonly platform: string
  /** Null shows the identities of people. */
  readonly pseudonymising: Pseudonymising | null
}

const tableNames = datasetTables.map(({ name }) => name)
const renewEveryMs = 10_000

/**
 * Adds what has changed since the last run to a data set, or makes one. The manifest is replaced once all files of the run are
 * complete; files that it does not name are those of interrupted runs, and are removed by the next one.
 */
export async function writeDataset(context: Context, caller: Caller, options: DatasetOptions) {
  const directory = resolve(context.io.cwd, options.name)
  readManifest(directory, options.name)
  makeDirectory(directory, null)
  const lock = tryLock(lockPath(directory), context.io)
  if (!lock) throw folderBusy(options.name, lockHolder(lockPath(directory)))
  const timer = setInterval(() => lock.renew(), renewEveryMs)
  try {
    return await writeLocked(context, caller, directory, options)
  } finally {
    clearInterval(timer)
    lock.release()
  }
}

async function writeLocked(
  context: Context,
  caller: Caller,
  directory: string,
  { name, format, isFull, platform, pseudonymising }: DatasetOptions,
) {
  const found = readManifest(directory, name)
  const before = isFull ? null : found
  const pseudonyms = pseudonymising && {
    key: pseudonymising.pseudonyms.keyDigest(),
    times: pseudonymising.times,
  }
  if (before) requireFiles(directory, before, name)
  requireSame(before, { name, format, platform, pseudonyms })
  makeFolders(directory, tableNames)
  removeOtherRuns(directory, found, tableNames)
  // A run that was interrupted after its manifest has not described its files.
  if (found) await writeDescription(directory, found)
  const start =
    before ?? newManifest({ platform, format: format ?? found?.format ?? 'parquet', pseudonyms }, found)
  const number = nextRun(start)
  const { format: own, lastChange } = start
  const writer = new RunWriter(directory, {
    number,
    format: own,
    lastChange,
    tables: tablesOf({ pseudonyms }),
  })
  if (before === null) await writer.openAll()
  const privacy = pseudonymising && (await import('./privacy-step.ts')).datasetPrivacy(pseudonymising)
  try {
    const line = await createProgressLine(context.io, 'rows', null)
    let until = start.until
    const read = readRows(context, caller, before, (place) => {
      until = place
    })
    try {
      // Not validated: the operations are this API's.
      for await (const rows of (privacy?.rows(read) ?? read) as Batches<ChangedRow>) {
        context.io.signal.throwIfAborted()
        await writer.add(rows)
        await line.update(writer.rows())
      }
    } finally {
      line.stop()
    }
    const files = await writer.finish()
    const counts = Object.fromEntries(files.map(({ table, rows }) => [table, rows]))
    const run = { number, at: new Date(context.io.now()).toISOString(), files }
    // A full run keeps the number of the one before, so that no name of a file comes twice.
    const earlier = before?.runs ?? []
    const runs = files.length === 0 ? earlier : [...earlier, run]
    const manifest = { ...start, until, lastChange: lastChange + writer.rows(), runs }
    await writeManifest(directory, manifest)
    await writeDescription(directory, manifest)
    removeOtherRuns(directory, manifest, tableNames)
    const notes = privacy?.notes() ?? []
    return { manifest, rows: counts, isFull: before === null, notes }
  } catch (error) {
    await writer.discard()
    throw goneError(error, name)
  }
}

function requireSame(
  found: Manifest | null,
  {
    name,
    format,
    platform,
    pseudonyms,
  }: Pick<DatasetOptions, 'name' | 'format' | 'platform'> & Pick<Manifest, 'pseudonyms'>,
): void {
  const hint = `Name another folder, or begin again with: learnctl analytics dataset ${name} --full`
  if (found && found.platform !== platform) {
    throw new UsageError(`${name} is a data set of ${found.platform}, not of ${platform}`, { hint })
  }
  if (found && format !== undefined && found.format !== format) {
    throw new UsageError(`${name} has ${found.format} files, not ${format}`, { hint })
  }
  if (!found) return
  // Manifests of data sets with names may have no entry.
  const earlier = found.pseudonyms ?? null
  if (earlier === null && pseudonyms !== null) {
    throw new UsageError(`${name} is a data set with names: --pseudonymise would mix both`, { hint })
  }
  if (earlier !== null && pseudonyms === null) {
    throw new UsageError(`${name} is pseudonymised: without --pseudonymise, names would be added`, { hint })
  }
  if (earlier?.key !== pseudonyms?.key) {
    throw new UsageError(`${name} has pseudonyms of another key`, { hint })
  }
  if (earlier?.times !== pseudonyms?.times) {
    const flag = earlier?.times ? `with --coarsen-times ${earlier.times}` : 'without --coarsen-times'
    throw new UsageError(`${name} is a data set ${flag}`, { hint })
  }
}

/**
 * Yields all rows, or those that have changed since the last run.
 *
 * @param complete gets the place in the changes of the platform up to which the rows are complete, after the last one
 */
async function* readRows(
  { io: { signal } }: Context,
  caller: Caller,
  before: Manifest | null,
  complete: (until: string) => void,
): AsyncGenerator<readonly unknown[]> {
  const { changes, rows } = calls.analytics
  let until = before?.until
  if (until === undefined) {
    until = (await caller.call(changes, { query: {}, signal })).data.until
    for (const table of tableNames) {
      const pages = caller.pages(rows as Operation, { query: { table }, signal })
      for await (const { data } of pages) yield data
    }
  }
  // Also after a full run: rows that changed while it read others would refer to rows that are not there.
  for (;;) {
    const page: DataChangePage = (await caller.call(changes, { query: { after: until }, signal })).data
    yield page.data
    until = page.until
    if (page.nextCursor === null) return complete(until)
  }
}

function goneError(error: unknown, name: string): unknown {
  if (!(error instanceof ApiError) || error.code !== 'changes_gone') return error
  return new CommandError(
    'changes_gone',
    'conflict',
    `Cannot add to ${name}: what has changed is not known`,
    {
      cause: error,
      why: [
        'The platform is another one, was restored from a backup, or the last run was more than 180 days ago',
      ],
      hint: `Begin again with: learnctl analytics dataset ${name} --full`,
    },
  )
}
