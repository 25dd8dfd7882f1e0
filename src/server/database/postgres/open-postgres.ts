import { homedir } from 'node:os'
import { join } from 'node:path'
import sql from 'sql-template-tag'
import { type PostgresUrl, PostgresUrlError, readPostgresUrl } from '../../../codec/postgres-url.ts'
import type { Connection, Connections } from './connection.ts'
import { openingFault } from './opening-fault.ts'
import { passwordIn } from './password-file.ts'
import { openPool } from './pool.ts'
import { DatabaseError, type Dialect, type Store } from './port.ts'
import { postgresStore } from './postgres-store.ts'
import { migrate, type Step } from './schema-version.ts'
import { sqlStateOf } from './sql-state.ts'
import { statementsBy } from './statements.ts'
import { encryptionsOf } from './tls-mode.ts'

/** How to reach an academy on PostgreSQL. */
export interface PostgresOptions {
  /** `postgres://…`, as libpq reads it. */
  readonly url: string
  /** Where `PGPASSWORD` and the like are looked for. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Where `.pgpass` and `.postgresql` are. */
  readonly home?: string
  /** How many connections there may be, those of exports included; at least 2. */
  readonly poolSize?: number
  /** How long a statement may take; 0 for as long as it takes. */
  readonly statementMs?: number
  /** How long a statement may wait for the locks of others; 0 for as long as it takes. */
  readonly lockMs?: number
  /** How long a connection is waited for, unless the URL has a connect_timeout. */
  readonly waitMs?: number
  /** How much longer than `statementMs` an answer is waited for, before the connection is given up. */
  readonly graceMs?: number
}

/** An academy on PostgreSQL. */
export interface OpenPostgres {
  readonly store: Store
  /** True where it was made just now, by this very process. */
  readonly created: boolean
  /** What it is called, without user and password. */
  readonly shown: string
}

const usual = { poolSize: 10, statementMs: 30_000, lockMs: 10_000, waitMs: 10_000, graceMs: 5000 }
/** How much longer a statement of an export may take: it may have to sort all rows before it has the first one. */
const exportFactor = 10
const oldestVersion = 14

/**
 * Opens the academy in a PostgreSQL database and brings it up to date; an empty database becomes an academy. Throws
 * DatabaseError.
 */
export async function openPostgres(options: PostgresOptions, steps: readonly Step[]): Promise<OpenPostgres> {
  const { poolSize, statementMs, lockMs, graceMs, ...more } = { ...usual, ...options }
  const url = readUrl(options)
  const { shown } = url
  const waitMs = waitMsOf(url) ?? more.waitMs
  const dialect: Dialect = { name: 'postgres' }
  try {
    const { client, connections } = await connect(url, options.home ?? homedir(), waitMs)
    const created = await withOne(connections, async (connection) => {
      await requireServer(connection, shown)
      return migrate(connection, shown, steps, dialect)
    })
    const exports = Math.max(1, Math.floor(poolSize / 5))
    const pool = { client, waitMs, graceMs, lockMs }
    const store = postgresStore({
      requests: openPool({ ...pool, size: poolSize - exports, statementMs }),
      streams: openPool({ ...pool, size: exports, statementMs: statementMs * exportFactor }),
      dialect,
    })
    return { store, created, shown }
  } catch (error) {
    throw openingFault(shown, error)
  }
}

function readUrl({ url, env }: PostgresOptions): PostgresUrl {
  try {
    return readPostgresUrl(url, env)
  } catch (error) {
    if (!(error instanceof PostgresUrlError)) throw error
    const { message, hint } = error
    throw new DatabaseError('The database URL', message, {
      kind: 'invalid',
      ...(hint !== undefined && { hint }),
    })
  }
}

/** The first way that `sslmode` allows and the server takes, for as long as this process runs. */
async function connect(url: PostgresUrl, home: string, waitMs: number) {
  const { host, port, user, database, parameter } = url
  const password = passwordOf(url, home)
  const named = {
    application_name: parameter('application_name') ?? 'learnctl',
    options: parameter('options'),
  }
  const encryptions = encryptionsOf(url, home)
  for (const ssl of encryptions) {
    const client = { host, port, user, database, password, ...named, ssl }
    const connections = openPool({ client, size: 1, waitMs, statementMs: 0, lockMs: 0 })
    try {
      const lease = await connections.lease()
      lease.release()
      return { client, connections }
    } catch (error) {
      await connections.close()
      if (ssl === encryptions.at(-1) || !mayBeEncryption(error)) throw error
    }
  }
  throw new Error('No sslmode is without a way to connect')
}

/** True for what may be otherwise with TLS, or without: the handshake, and the server's own rules on who may connect. */
function mayBeEncryption(error: unknown): boolean {
  if (sqlStateOf(error) !== undefined) return sqlStateOf(error) === '28000'
  const { cause } = error as Error
  const { code = '' } = (cause ?? {}) as { code?: string }
  return !/^(E[A-Z_]+)$/.test(code) || code.startsWith('ERR_') || code === 'EPROTO'
}

/** The password, read when a connection needs it: a file that is changed counts from the next connection on. */
function passwordOf(url: PostgresUrl, home: string): () => string {
  return () => {
    if (url.password !== undefined) return url.password
    const path = url.parameter('passfile') ?? join(home, '.pgpass')
    const { password, ignored } = passwordIn(path, url)
    if (password !== undefined) return password
    throw new DatabaseError(url.shown, `requires a password${ignored ? `; ${path} ${ignored}` : ''}`, {
      kind: 'refused',
      hint: `Set PGPASSWORD, put it in the URL, or add a line to ${path}`,
    })
  }
}

function waitMsOf({ shown, parameter }: PostgresUrl): number | undefined {
  const given = parameter('connect_timeout')
  if (given === undefined) return undefined
  const seconds = Number(given)
  if (Number.isInteger(seconds) && seconds >= 0) return seconds * 1000
  throw new DatabaseError(shown, 'has a connect_timeout that is not a whole number of seconds', {
    kind: 'invalid',
  })
}

async function requireServer(connection: Connection, shown: string): Promise<void> {
  const { one } = statementsBy(({ text }) => connection.query(text))
  const server = await one(sql`
    select current_setting('server_version_num') as version, current_setting('server_encoding') as encoding,
      pg_is_in_recovery() as standby, current_setting('transaction_read_only') as locked`)
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
}

async function withOne<Result>(
  connections: Connections,
  work: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  const lease = await connections.lease()
  try {
    return await work(lease)
  } finally {
    lease.release()
    await connections.close()
  }
}
