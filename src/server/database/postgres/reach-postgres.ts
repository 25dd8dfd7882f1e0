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

/** How to reach an academy on PostgreSQL. */
export interface PostgresOptions {
  /** `postgres://…`, as libpq reads it. */
  readonly url: string
  /** Where `PGPASSWORD` and the like are looked for. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Where `.pgpass` and `.postgresql` are. */
  readonly home?: string
  /** How many connections there may be for requests; exports have up to five more. */
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

/** A PostgreSQL that answers. */
export interface ReachedPostgres {
  /** What it is called, without user and password. */
  readonly shown: string
  /** How to make further connections. */
  readonly client: pg.ClientConfig
  readonly waitMs: number
  /** One connection, whose statements may take as long as they take. Close it. */
  readonly connections: Connections
}

const usualWaitMs = 10_000

/** Makes a first connection. Throws DatabaseError. */
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
