import { existsSync } from 'node:fs'
import sql from 'sql-template-tag'
import { newHmacKey } from '../access/secret.ts'
import { DatabaseError, type Store, schemaVersion } from '../database/database.ts'
import { type IdMaker, idMaker } from '../database/id.ts'
import type { PostgresOptions } from '../database/postgres/reach-postgres.ts'
import {
  applicationId,
  isLongUpgrade,
  makeFile,
  migrate,
  type OnUpgrade,
  requireContent,
  requireTables,
  type StepsFrom,
} from '../database/sqlite/academy-file.ts'
import { databaseErrorOf } from '../database/sqlite/connection.ts'
import { openSqlite, type SqliteStore } from '../database/sqlite/sqlite.ts'
import type { UpgradeWatch } from './upgrade-in-process.ts'

/** A smaller academy is upgraded too quickly to notice. */
const noticedBytes = 64 * 1024 * 1024
/** For another process that is upgrading the same academy. */
const upgradeWaitMs = 3_600_000

export interface AcademyFile {
  readonly database: Store
  readonly created: boolean
  readonly newId: IdMaker
}

interface FileOptions {
  /** For another process's lock; default 10 s. */
  readonly waitMs?: number | undefined
  readonly watch?: UpgradeWatch | undefined
  /** Default: by time and randomness. */
  readonly ids?: IdMaker | undefined
  /** The academy ends with its process: writes do not wait for the disk. */
  readonly temporary?: boolean | undefined
  /** A missing file is a DatabaseError of the kind `missing`. */
  readonly mustExist?: boolean | undefined
}

/** Upgrades or creates it. Throws DatabaseError, also for an empty file: it may be all that is left of an academy. */
export async function openAcademyFile(
  path: string,
  now: () => Date,
  { waitMs, watch, ids: newId = idMaker(now), temporary = false, mustExist = false }: FileOptions = {},
): Promise<AcademyFile> {
  if (mustExist && !existsSync(path)) throw new DatabaseError(path, 'does not exist', { kind: 'missing' })
  if (watch) await upgradeLarge(path, watch)
  const bringUpToDate = (database: Store, file: string) => migrate(database, file, stepsFor(now, newId))
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

/** Throws DatabaseError. */
export async function upgradeLarge(path: string, watch: UpgradeWatch): Promise<void> {
  const { largeBytes = noticedBytes } = watch
  if (!isLongUpgrade(path, { largeBytes, applicationId, newest: schemaVersion })) return
  const { upgradeInProcess } = await import('./upgrade-in-process.ts')
  await upgradeInProcess(path, watch)
}

/** Throws DatabaseError. */
export async function upgradeFile(path: string, now: () => Date, onUpgrade: OnUpgrade): Promise<void> {
  const database = openExisting(path, upgradeWaitMs)
  try {
    await requireTables(database, path)
    await migrate(database, path, stepsFor(now, idMaker(now)), onUpgrade)
  } catch (error) {
    throw databaseErrorOf(path, error)
  } finally {
    await database.close()
  }
}

/** Upgrades it; an empty database becomes an academy, unless `mustExist`. Throws DatabaseError. */
export async function openAcademyOnPostgres(
  options: PostgresOptions & Pick<FileOptions, 'mustExist'>,
  now: () => Date,
): Promise<AcademyFile> {
  if (options.mustExist) await requireSchema(options)
  const newId = idMaker(now)
  const { openPostgres } = await import('../database/postgres/open-postgres.ts')
  const { store, created } = await openPostgres(options, await allSteps(now, newId))
  return { database: store, created, newId }
}

/** Throws DatabaseError. */
async function requireSchema(options: PostgresOptions): Promise<void> {
  const { reachPostgres } = await import('../database/postgres/reach-postgres.ts')
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

async function allSteps(now: () => Date, newId: IdMaker) {
  const { schemaSteps } = await import('../database/schema/steps.ts')
  return schemaSteps({ now: now().toISOString(), newId, newSecret: newHmacKey })
}

/** An academy of the newest version loads no schema. */
function stepsFor(now: () => Date, newId: IdMaker): StepsFrom {
  return async (version, path) => {
    if (version === schemaVersion) return []
    const { stepsFrom } = await import('../database/schema/steps.ts')
    return stepsFrom(version, await allSteps(now, newId), path)
  }
}

function openExisting(path: string, waitMs: number | undefined): SqliteStore {
  try {
    requireContent(path)
  } catch (error) {
    throw databaseErrorOf(path, error)
  }
  return openSqlite(path, waitMs)
}
