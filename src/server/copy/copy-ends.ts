import sql from 'sql-template-tag'
import {
  openAcademyFile,
  openAcademyOnPostgres,
  openCopyFile,
  openCopyOnPostgres,
  openModelAcademy,
} from '../academy.ts'
import type { Store } from '../database/database.ts'
import type { PostgresOptions } from '../database/postgres/reach-postgres.ts'
import type { UpgradeWatch } from '../upgrade/upgrade-watch.ts'
import type { CopyOptions } from './copy-academy.ts'
import { CopyError } from './copy-error.ts'

/** A database at one end of a copy: a file, or one on PostgreSQL. */
export interface CopyPlace {
  /** Its path, or its URL without user and password. */
  readonly name: string
  readonly postgres?: Pick<PostgresOptions, 'url' | 'env' | 'home'> | undefined
  /** Is told where the academy in a file has to be upgraded before, which takes long. */
  readonly upgrade?: UpgradeWatch | undefined
}

/** What a copy needs open. */
export interface CopyEnds extends Pick<CopyOptions, 'from' | 'to' | 'model'> {
  readonly close: () => Promise<void>
}

/** As PostgreSQL lists the connections of a copy; those of servers have another name. */
const applicationName = 'learnctl copy'
/** A batch takes a moment, and counting the rows of a large table some seconds. */
const statementMs = 600_000

/**
 * Opens both ends of a copy, the one to copy first: where that fails, nothing is made at the other. Throws DatabaseError,
 * and CopyError where a server is connected to a PostgreSQL database.
 */
export async function openCopyEnds(from: CopyPlace, to: CopyPlace, now: () => Date): Promise<CopyEnds> {
  const open: Store[] = []
  const close = async () => {
    for (const store of open) await store.close()
  }
  const keep = ({ database }: { database: Store }) => {
    open.push(database)
    return database
  }
  try {
    const source = keep(await openSource(from, now))
    const target = keep(await openTarget(to, now))
    await requireNoServer(source, from.name)
    await requireNoServer(target, to.name)
    await prepare(target)
    return {
      from: { database: source, shown: from.name },
      to: { database: target, shown: to.name },
      model: keep({ database: await openModelAcademy(now) }),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function openSource({ name, postgres, upgrade }: CopyPlace, now: () => Date) {
  return postgres
    ? openAcademyOnPostgres({ ...optionsFor(postgres), mustExist: true }, now)
    : openAcademyFile(name, now, { watch: upgrade, mustExist: true })
}

function openTarget({ name, postgres }: CopyPlace, now: () => Date) {
  return postgres ? openCopyOnPostgres(optionsFor(postgres), now) : openCopyFile(name, now)
}

function optionsFor(postgres: NonNullable<CopyPlace['postgres']>): PostgresOptions {
  return { ...postgres, env: { ...postgres.env, PGAPPNAME: applicationName }, poolSize: 2, statementMs }
}

/** Servers on other machines are seen by their connections. */
async function requireNoServer(database: Store, shown: string): Promise<void> {
  if (database.dialect.name !== 'postgres') return
  const found = await database.one(sql`
    select count(*) as connections from pg_stat_activity
    where datname = current_database() and application_name = 'learnctl'`)
  if (Number(found?.['connections']) === 0) return
  throw new CopyError(
    'in_use',
    `Cannot copy while a server is connected to ${shown}`,
    'Stop all servers of this academy first',
  )
}

/**
 * Rows come in the order of their keys, and change pages all over the indexes: with those in memory, and written to the
 * file less often, a large academy is written several times faster.
 */
async function prepare(target: Store): Promise<void> {
  if (target.dialect.name !== 'sqlite') return
  await target.run(sql`pragma cache_size = -200000`)
  await target.run(sql`pragma wal_autocheckpoint = 20000`)
}
