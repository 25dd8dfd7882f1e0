import { existsSync } from 'node:fs'
import sql from 'sql-template-tag'
import { newHmacKey } from './access/secret.ts'
import { rebuildCounters } from './counters/recount.ts'
import { DatabaseError, type Store } from './database/database.ts'
import { type IdMaker, idMaker } from './database/id.ts'
import type { PostgresOptions } from './database/postgres/reach-postgres.ts'
import { type SchemaStep, schemaSteps, schemaVersion } from './database/schema/steps.ts'
import { requireContent, requireTables } from './database/sqlite/existing-file.ts'
import { databaseErrorOf } from './database/sqlite/file-fault.ts'
import { makeFile } from './database/sqlite/new-file.ts'
import { isLongUpgrade } from './database/sqlite/pending-upgrade.ts'
import { applicationId, migrate, type OnUpgrade } from './database/sqlite/schema-version.ts'
import { openSqlite, type SqliteStore } from './database/sqlite/sqlite.ts'
import { requireNoCopy } from './database/unfinished-copy.ts'
import type { UpgradeWatch } from './upgrade/upgrade-watch.ts'

/** Below it an academy is up to date before anybody would have read that it is being brought there. */
const noticedBytes = 64 * 1024 * 1024
/** Another process may be upgrading the same academy. */
const upgradeWaitMs = 3_600_000

/** An open academy, in a file or on PostgreSQL: its database, and whether it was made just now. */
export interface AcademyFile {
  readonly database: Store
  readonly created: boolean
  readonly newId: IdMaker
}

/** How a file is opened. */
export interface FileOptions {
  /** How long a write waits for the lock of another program; ten seconds unless told otherwise. */
  readonly waitMs?: number | undefined
  /** Is told of an upgrade that takes long, which is then made in a process of its own. */
  readonly watch?: UpgradeWatch | undefined
  /** Makes the ids of the academy; by time and chance unless told otherwise. */
  readonly ids?: IdMaker | undefined
  /** True for an academy that goes with its process: nothing waits for the disk. */
  readonly temporary?: boolean | undefined
  /** True to open an academy only where it exists: a missing file is a DatabaseError of the kind `missing`. */
  readonly mustExist?: boolean | undefined
}

/**
 * Opens the academy in a file and brings it up to date; makes it where there is no file. Throws DatabaseError, also for
 * a file that is there and holds nothing: nothing is made in the place of what was lost.
 */
export async function openAcademyFile(
  path: string,
  now: () => Date,
  options: FileOptions = {},
): Promise<AcademyFile> {
  return whole(await openCopyFile(path, now, options), path)
}

/** The same, for whoever copies an academy into it: it may be an unfinished copy. */
export async function openCopyFile(
  path: string,
  now: () => Date,
  { waitMs, watch, ids: newId = idMaker(now), temporary = false, mustExist = false }: FileOptions = {},
): Promise<AcademyFile> {
  if (mustExist && !existsSync(path)) throw new DatabaseError(path, 'does not exist', { kind: 'missing' })
  if (watch) await upgradeLarge(path, watch)
  const bringUpToDate = (database: Store, file: string) => migrate(database, file, stepsOf(now, newId))
  const created = !existsSync(path) && (await makeFile(path, bringUpToDate, temporary))
  const database = openExisting(path, waitMs)
  try {
    if (temporary) await database.run(sql`pragma synchronous = off`)
    await requireTables(database, path)
    await bringUpToDate(database, path)
    database.waitNoMore()
    return { database, created, newId }
  } catch (error) {
    await database.close()
    throw databaseErrorOf(path, error)
  }
}

/** Upgrades a large academy of an earlier version, if there is one in the file. Throws DatabaseError. */
export async function upgradeLarge(path: string, watch: UpgradeWatch): Promise<void> {
  const { largeBytes = noticedBytes } = watch
  if (!isLongUpgrade(path, { largeBytes, applicationId, newest: schemaVersion })) return
  const { upgradeInProcess } = await import('./upgrade/upgrade-in-process.ts')
  await upgradeInProcess(path, watch)
}

/** True for a file that no upgrade would change, as far as its first bytes tell. */
export function isCurrent(path: string): boolean {
  return existsSync(path) && !isLongUpgrade(path, { largeBytes: 0, applicationId, newest: schemaVersion })
}

/** Brings the academy in a file up to date, in this process. Throws DatabaseError. */
export async function upgradeFile(path: string, now: () => Date, onUpgrade: OnUpgrade): Promise<void> {
  const database = openExisting(path, upgradeWaitMs)
  try {
    await requireTables(database, path)
    await migrate(database, path, stepsOf(now, idMaker(now)), onUpgrade)
  } catch (error) {
    throw databaseErrorOf(path, error)
  } finally {
    await database.close()
  }
}

/** A new academy in memory, by which others are measured. */
export async function openModelAcademy(now: () => Date): Promise<Store> {
  const path = ':memory:'
  const database = openSqlite(path)
  await migrate(database, path, stepsOf(now, idMaker(now)))
  return database
}

/**
 * Opens the academy in a PostgreSQL database and brings it up to date; an empty one becomes an academy, unless
 * `mustExist`. Throws DatabaseError.
 */
export async function openAcademyOnPostgres(
  options: PostgresOptions & Pick<FileOptions, 'mustExist'>,
  now: () => Date,
): Promise<AcademyFile> {
  if (options.mustExist) await requireSchema(options)
  const { shown, ...academy } = await openCopyOnPostgres(options, now)
  return whole(academy, shown)
}

/** Throws DatabaseError for a PostgreSQL database without the schema of an academy. */
async function requireSchema(options: PostgresOptions): Promise<void> {
  const { reachPostgres } = await import('./database/postgres/reach-postgres.ts')
  const { connections, shown } = await reachPostgres(options)
  try {
    const lease = await connections.lease()
    const { rows } = await lease.query("select to_regclass('schema_version') is not null")
    lease.release()
    if (rows[0]?.[0] !== 1) {
      throw new DatabaseError(shown, 'holds no academy', {
        kind: 'missing',
        hint: 'Create one there with `learnctl server start`',
      })
    }
  } finally {
    await connections.close()
  }
}

/** The same, for whoever copies an academy into it; `shown` is its URL without user and password. */
export async function openCopyOnPostgres(options: PostgresOptions, now: () => Date) {
  const newId = idMaker(now)
  const { openPostgres } = await import('./database/postgres/open-postgres.ts')
  const { store, created, shown } = await openPostgres(options, stepsOf(now, newId))
  return { database: store, created, newId, shown }
}

async function whole(academy: AcademyFile, shown: string): Promise<AcademyFile> {
  try {
    await requireNoCopy(academy.database, shown)
    return academy
  } catch (error) {
    await academy.database.close()
    throw error
  }
}

function stepsOf(now: () => Date, newId: IdMaker): readonly SchemaStep[] {
  return schemaSteps({ now: now().toISOString(), newId, newSecret: newHmacKey, rebuildCounters })
}

function openExisting(path: string, waitMs: number | undefined): SqliteStore {
  try {
    requireContent(path)
  } catch (error) {
    throw databaseErrorOf(path, error)
  }
  return openSqlite(path, waitMs)
}
