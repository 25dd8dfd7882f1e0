import sql from 'sql-template-tag'
import {
  openAcademyFile,
  openAcademyOnPostgres,
  openCopyFile,
  openCopyOnPostgres,
  openModelAcademy,
} from '../academy/open-academy.ts'
import type { UpgradeWatch } from '../academy/upgrade-in-process.ts'
import type { Store } from '../database/database.ts'
import type { PostgresOptions } from '../database/postgres/reach-postgres.ts'
import type { CopyOptions } from './copy-academy.ts'
import { CopyError } from './copy-error.ts'

/** A database at one end of a copy: a file, or one on PostgreSQL. */
export interface CopyPlace {
  /** Its path, or its URL without user and password. */
  readonly name: string
  readonly postgres?: Pick<PostgresOptions, 'url' | 'env' | 'home'> | undefined
  /** Observes the upgrade of an older file, which takes long. */
  readonly upgrade?: UpgradeWatch | undefined
}

/** The opened databases of a copy. */
export interface CopyEnds extends Pick<CopyOptions, 'from' | 'to' | 'model'> {
  readonly close: () => Promise<void>
}

/** Name of the copy's connections in PostgreSQL, different from that of servers. */
const applicationName = 'learnctl copy'
/** Timeout of a statement; counting the rows of a large table takes some seconds. */
const statementMs = 600_000

/**
 * Opens both ends of a copy, the source first, so that an error creates no target. Throws DatabaseError, and
 * CopyError if a server is connected to a PostgreSQL database.
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

/** Throws if a server is connected, also one on another machine. */
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
 * Tunes SQLite for the copy: rows arrive in the order of their keys but change pages in all indexes. A larger
 * cache and fewer checkpoints make a large copy several times faster.
 */
async function prepare(target: Store): Promise<void> {
  if (target.dialect.name !== 'sqlite') return
  await target.run(sql`pragma cache_size = -200000`)
  await target.run(sql`pragma wal_autocheckpoint = 20000`)
}
