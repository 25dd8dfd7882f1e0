import { homedir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { type PostgresUrl, PostgresUrlError, readPostgresUrl } from '../../../codec/postgres-url.ts'
import { DatabaseError } from '../database.ts'
import { sqlStateOf } from '../sql-state.ts'
import type { Connections } from './connection.ts'
import { openingFault } from './opening-fault.ts'
import { passwordIn } from './password-file.ts'
import { openPool } from './pool.ts'
import { encryptionsOf } from './tls-mode.ts'

/** Options for connecting to an academy on PostgreSQL. */
export interface PostgresOptions {
  /** `postgres://…`, as libpq reads it. */
  readonly url: string
  /** Environment with `PGPASSWORD` and the like. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Directory of `.pgpass` and `.postgresql`. */
  readonly home?: string
  /** Maximum connections for requests; exports have up to five more. */
  readonly poolSize?: number
  /** Statement timeout; 0 for none. */
  readonly statementMs?: number
  /** Lock timeout; 0 for none. */
  readonly lockMs?: number
  /** Time to wait for a connection, unless the URL has a connect_timeout. */
  readonly waitMs?: number
  /** Time to wait for a response beyond `statementMs` before the connection is closed. */
  readonly graceMs?: number
}

/** A PostgreSQL server that accepted a connection. */
export interface ReachedPostgres {
  /** The URL without user and password, for messages. */
  readonly shown: string
  /** Configuration for further connections. */
  readonly client: pg.ClientConfig
  readonly waitMs: number
  /** One connection without a statement timeout. Close it. */
  readonly connections: Connections
}

const usualWaitMs = 10_000

/** Opens the first connection. Throws DatabaseError. */
export async function reachPostgres(options: PostgresOptions): Promise<ReachedPostgres> {
  const url = readUrl(options)
  const { shown } = url
  const waitMs = waitMsOf(url) ?? options.waitMs ?? usualWaitMs
  try {
    return { shown, waitMs, ...(await connect(url, options.home ?? homedir(), waitMs)) }
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

/** Connects in the first way that `sslmode` allows and the server accepts; later connections use the same. */
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

/** True for errors that may differ with or without TLS: the handshake, and the server's pg_hba rules. */
function mayBeEncryption(error: unknown): boolean {
  if (sqlStateOf(error) !== undefined) return sqlStateOf(error) === '28000'
  const { cause } = error as Error
  const { code = '' } = (cause ?? {}) as { code?: string }
  return !/^(E[A-Z_]+)$/.test(code) || code.startsWith('ERR_') || code === 'EPROTO'
}

/** Returns a function that reads the password for each connection, so that a changed file takes effect. */
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
