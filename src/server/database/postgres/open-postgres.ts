import sql, { raw, type Sql } from 'sql-template-tag'
import { unavailable } from '../../problem-error.ts'
import {
  createDeferredStore,
  type Database,
  DatabaseError,
  type Dialect,
  type Searched,
  type SearchHits,
  type Store,
  type Transaction,
} from '../database.ts'
import { type SchemaStep, stepsFrom } from '../schema/steps.ts'
import { contains } from '../search.ts'
import { openingFaultOf, sqlStateOf } from './faults.ts'
import { type Connection, openPool } from './pool.ts'
import { postgresStore } from './postgres-store.ts'
import { type PostgresOptions, type ReachedPostgres, reachPostgres } from './reach-postgres.ts'
import { OpenTransaction, statementsBy } from './transaction.ts'

interface OpenPostgres {
  readonly store: Store
  readonly created: boolean
  /** The URL without user and password. */
  readonly shown: string
}

const usual = { poolSize: 10, statementMs: 30_000, lockMs: 10_000, graceMs: 5000 }
/** Exports may have to sort all rows before the first one. */
const exportFactor = 10
const oldestVersion = 14

/** Brings it up to date; an empty database becomes an academy. Throws DatabaseError. */
export async function openPostgres(
  options: PostgresOptions,
  steps: readonly SchemaStep[],
): Promise<OpenPostgres> {
  const reached = await reachPostgres(options)
  const { shown, connections } = reached
  const lease = await connections.lease()
  try {
    await requireServer(lease, shown, options.poolSize)
    const created = await migrate(lease, shown, steps, dialect)
    return { store: storeOn(reached, options), created, shown }
  } catch (error) {
    throw openingFaultOf(shown, error)
  } finally {
    lease.release()
    await connections.close()
  }
}

/**
 * Opens the academy for a sequential reader: one connection for requests and one for an export. It connects at the
 * first use; a failure to connect throws 503.
 */
export function openPostgresReader(options: PostgresOptions): Store {
  return createDeferredStore(dialect, async () => {
    try {
      const reached = await reachPostgres(options)
      await reached.connections.close()
      return storeOn(reached, { ...options, poolSize: 1 })
    } catch (error) {
      throw unavailable('The database cannot be reached.', 5, error)
    }
  })
}

function storeOn({ client, waitMs }: ReachedPostgres, options: PostgresOptions): Store {
  const { poolSize, statementMs, lockMs, graceMs } = { ...usual, ...options }
  const pool = { client, waitMs, graceMs, lockMs }
  return postgresStore({
    requests: openPool({ ...pool, client: withIndexes(client), size: poolSize, statementMs }),
    streams: openPool({ ...pool, size: 1, statementMs: statementMs * exportFactor }),
    dialect: { ...dialect },
  })
}

/**
 * Discourages sequential scans: PostgreSQL prefers them for small tables, but under serializable isolation they
 * conflict with every write to the table (PostgreSQL, Serializable Isolation Level).
 */
function withIndexes(client: ReachedPostgres['client']): ReachedPostgres['client'] {
  return { ...client, options: `${client.options ?? ''} -c enable_seqscan=off`.trim() }
}

async function requireServer(
  connection: Connection,
  shown: string,
  poolSize = usual.poolSize,
): Promise<void> {
  const { one } = statementsBy(({ text }) => connection.query(text))
  const server = await one(sql`
    select current_setting('server_version_num') as version, current_setting('server_encoding') as encoding,
      pg_is_in_recovery() as standby, current_setting('transaction_read_only') as locked,
      current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer as connections`)
  const version = Math.floor(Number(server?.['version']) / 10_000)
  if (version < oldestVersion) {
    throw new DatabaseError(
      shown,
      `is on PostgreSQL ${version}; version ${oldestVersion} or later is required`,
    )
  }
  if (server?.['encoding'] !== 'UTF8') {
    throw new DatabaseError(shown, `has the encoding ${server?.['encoding']}; UTF8 is required`, {
      hint: 'Create the database with `createdb --encoding UTF8 --template template0 …`',
    })
  }
  if (server['standby'] === 1) {
    throw new DatabaseError(shown, 'is a read-only standby', { hint: 'Use the address of the primary' })
  }
  if (server['locked'] === 'on') throw new DatabaseError(shown, 'is read-only')
  const connections = Number(server['connections'])
  if (poolSize > connections) {
    throw new DatabaseError(
      shown,
      `takes at most ${connections} connections, from all servers together; each keeps up to ${poolSize}`,
      { hint: 'Raise max_connections of PostgreSQL' },
    )
  }
}

const program = 'learnctl'
/** A migrating server holds it. */
const lock = 0x6c726e63
/** A server that waited for the lock must see the other's migration. */
const begin = 'begin isolation level read committed'

/**
 * Migrates a database to the newest version, step by step; an empty one becomes an academy. Of several servers that
 * start at once one migrates and the others wait for it. True if this one created the academy. Throws DatabaseError
 * for a database from a newer version, and for one of another program.
 *
 * @param shown name of the database in messages
 */
export async function migrate(
  connection: Connection,
  shown: string,
  steps: readonly SchemaStep[],
  dialect: Dialect,
): Promise<boolean> {
  let isNew = false
  const surroundings = { dialect, stream: noStream, nameOf: () => undefined }
  for (;;) {
    const transaction = new OpenTransaction(connection, begin, surroundings)
    const { statements } = transaction
    try {
      const isCurrent = stepsFrom(await versionOf(statements, shown), steps, shown).length === 0
      if (!isCurrent) isNew = (await takeStep(statements, shown, steps)) === 0 || isNew
      await transaction.commit()
      if (isCurrent) return isNew
    } catch (error) {
      await transaction.rollback().catch(() => undefined)
      throw error
    }
  }
}

/** Undefined if another server was first. */
async function takeStep(
  database: Transaction,
  shown: string,
  steps: readonly SchemaStep[],
): Promise<number | undefined> {
  // No lock timeout: the server cannot serve before the schema exists.
  await database.run(sql`set local lock_timeout = 0`)
  await database.run(sql`set local statement_timeout = 0`)
  await database.one(sql`select pg_advisory_xact_lock(${lock})`)
  const [step] = stepsFrom(await versionOf(database, shown), steps, shown)
  if (!step) return undefined
  if (step.from === 0) {
    await database.run(sql`create table schema_version (program text not null, version integer not null)`)
    await database.run(sql`insert into schema_version (program, version) values (${program}, 0)`)
  }
  await step.run(database)
  await database.run(sql`update schema_version set version = ${step.to}`)
  return step.from
}

async function versionOf(database: Database, shown: string): Promise<number> {
  // Ignores tables that belong to an extension.
  const tables = await database.all<{ name: string }>(sql`
    select relname as name from pg_class
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')
      and not exists (select 1 from pg_depend where objid = pg_class.oid and deptype = 'e')`)
  if (tables.length === 0) return 0
  const columns = await database.all<{ name: string }>(sql`
    select attname as name from pg_attribute
    where attrelid = to_regclass(quote_ident(current_schema()) || '.schema_version') and attnum > 0 and not attisdropped`)
  const isMarked = ['program', 'version'].every((column) => columns.some(({ name }) => name === column))
  const mark = isMarked ? await database.one(sql`select program, version from schema_version`) : undefined
  if (mark?.['program'] !== program) {
    throw new DatabaseError(shown, 'is a PostgreSQL database of another program', {
      hint: 'Create one for learnctl alone, such as with `createdb academy`',
    })
  }
  return Number(mark['version'])
}

function noStream(): never {
  throw new Error('A step of the schema has one connection: it reads pages')
}

export const dialect: Dialect = {
  // Text sorts by bytes, as in SQLite, whatever the locale of the database, so cursors stay valid.
  columnTypes: { text: 'text collate "C"', integer: 'bigint', real: 'double precision', json: 'json' },
  tableOptions: () => '',
  // In the collation of the columns lower() folds ASCII only; ICU's is the same on every server.
  folded: (text) => sql`(lower((${text}) collate "und-x-icu") collate "C")`,
  hasStatistics: true,
  hasManyWriters: true,
  // A transaction below xmin has ended, whatever others do (PostgreSQL, Transaction ID and Snapshot Information Functions).
  commitOrder: {
    own: sql`cast(cast(pg_current_xact_id() as text) as bigint)`,
    finished: sql`cast(cast(pg_snapshot_xmin(pg_current_snapshot()) as text) as bigint)`,
  },
  lockedRows: (alias) => raw(`for update of ${alias} skip locked`),
  clock: sql`select extract(epoch from clock_timestamp()) as seconds`,
  servers: sql`
    select count(*) as servers from pg_stat_activity
    where datname = current_database() and application_name = 'learnctl'`,
  // Every transaction that writes changes what is seen.
  writeMark: sql`select pg_current_snapshot()::text as mark`,
  copySettings: [],
  hasNul: undefined,
  // Class 22: data exception (PostgreSQL, Appendix A).
  isUnfitValue: (error) => sqlStateOf(error)?.startsWith('22') ?? false,
  // With pg_trgm.
  search: { create, find },
}

function create(table: Searched): Sql[] {
  return [
    sql`create extension if not exists pg_trgm`,
    sql`create index ${raw(`${table}_search`)} on ${raw(table)} using gin (search_key gin_trgm_ops)`,
  ]
}

function find(table: Searched, text: string): SearchHits {
  return { ids: sql`select id from ${raw(table)} where ${contains(sql`search_key`, text)}` }
}
