import sql from 'sql-template-tag'
import { unavailable } from '../../problem-error.ts'
import { DatabaseError, type Store } from '../database.ts'
import { deferredStore } from '../deferred-store.ts'
import type { SchemaStep } from '../schema/steps.ts'
import type { Connection } from './connection.ts'
import { dialect } from './dialect.ts'
import { openingFault } from './opening-fault.ts'
import { openPool } from './pool.ts'
import { postgresStore } from './postgres-store.ts'
import { type PostgresOptions, type ReachedPostgres, reachPostgres } from './reach-postgres.ts'
import { migrate } from './schema-version.ts'
import { statementsBy } from './statements.ts'

/** An opened academy on PostgreSQL. */
export interface OpenPostgres {
  readonly store: Store
  /** True if this call created the academy. */
  readonly created: boolean
  /** The URL without user and password, for messages. */
  readonly shown: string
}

const usual = { poolSize: 10, statementMs: 30_000, lockMs: 10_000, graceMs: 5000 }
/** Factor on the statement timeout of exports: they may have to sort all rows before the first one. */
const exportFactor = 10
const oldestVersion = 14

/**
 * Opens the academy in a PostgreSQL database and brings it up to date; an empty database becomes an academy. Throws
 * DatabaseError.
 */
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
    throw openingFault(shown, error)
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
  return deferredStore(dialect, async () => {
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
      `takes at most ${connections} connections, from all servers together; --pool-size is ${poolSize}`,
      { hint: 'Use a smaller --pool-size, or raise max_connections of PostgreSQL' },
    )
  }
}
