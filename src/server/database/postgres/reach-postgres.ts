import { existsSync, readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { ConnectionOptions } from 'node:tls'
import type pg from 'pg'
import { type PostgresUrl, PostgresUrlError, readPostgresUrl } from '../../../codec/database-url.ts'
import { DatabaseError } from '../database.ts'
import { openingFaultOf, sqlStateOf } from './faults.ts'
import { type Connections, openPool } from './pool.ts'

export interface PostgresOptions {
  /** `postgres://…`, as libpq reads it. */
  readonly url: string
  /** With `PGPASSWORD` and the like. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Directory of `.pgpass` and `.postgresql`. */
  readonly home?: string
  /** For requests; exports have up to five more. */
  readonly poolSize?: number
  /** 0 for no timeout. */
  readonly statementMs?: number
  /** 0 for no timeout. */
  readonly lockMs?: number
  /** For a connection, unless the URL has a connect_timeout. */
  readonly waitMs?: number
  /** For a response beyond `statementMs`, before the connection is closed. */
  readonly graceMs?: number
}

export interface ReachedPostgres {
  /** The URL without user and password. */
  readonly shown: string
  readonly client: pg.ClientConfig
  readonly waitMs: number
  /** One, without a statement timeout. Close it. */
  readonly connections: Connections
}

const usualWaitMs = 10_000

export async function reachPostgres(options: PostgresOptions): Promise<ReachedPostgres> {
  const url = readUrl(options)
  const { shown } = url
  const waitMs = waitMsOf(url) ?? options.waitMs ?? usualWaitMs
  try {
    return { shown, waitMs, ...(await connect(url, options.home ?? homedir(), waitMs)) }
  } catch (error) {
    throw openingFaultOf(shown, error)
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

/** The handshake, and the server's pg_hba rules. */
function mayBeEncryption(error: unknown): boolean {
  if (sqlStateOf(error) !== undefined) return sqlStateOf(error) === '28000'
  const { cause } = error as Error
  const { code = '' } = (cause ?? {}) as { code?: string }
  return !/^(E[A-Z_]+)$/.test(code) || code.startsWith('ERR_') || code === 'EPROTO'
}

/** For each connection, so that a changed file takes effect. */
function passwordOf(url: PostgresUrl, home: string): () => string {
  return () => {
    if (url.password !== undefined) return url.password
    const path = url.parameter('passfile') ?? join(home, '.pgpass')
    const { password, ignored } = findPassword(path, url)
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

type Encryption = ConnectionOptions | false

const modes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const
type Mode = (typeof modes)[number]

/**
 * Returns the ways to connect that `sslmode` allows, in the order to try them (PostgreSQL, libpq, SSL Support).
 * Certificates are in `~/.postgresql` unless named. Throws DatabaseError for an unknown mode and for unreadable
 * files.
 */
function encryptionsOf({ shown, host, parameter }: PostgresUrl, home: string): readonly Encryption[] {
  const folder = join(home, '.postgresql')
  const rootName = parameter('sslrootcert')
  const isSystem = rootName === 'system'
  const named = parameter('sslmode') ?? (isSystem ? 'verify-full' : 'prefer')
  const mode = modes.find((mode) => mode === named)
  if (!mode) {
    throw new DatabaseError(shown, `has an unknown sslmode: ${named}`, {
      kind: 'invalid',
      hint: `Use one of: ${modes.join(', ')}`,
    })
  }
  if (isSystem && mode !== 'verify-full') {
    throw new DatabaseError(
      shown,
      `has sslrootcert=system, which requires sslmode=verify-full, not ${mode}`,
      { kind: 'invalid' },
    )
  }
  // A Unix socket is never encrypted.
  if (mode === 'disable' || host.startsWith('/')) return [false]
  const encrypted = { ...clientCertificate(), ...trust(mode) }
  if (mode === 'allow') return [false, encrypted]
  return mode === 'prefer' ? [encrypted, false] : [encrypted]

  function trust(mode: Mode): ConnectionOptions {
    if (isSystem) return {}
    const path = rootName ?? join(folder, 'root.crt')
    if (rootName === undefined && !existsSync(path)) {
      if (!mode.startsWith('verify')) return { rejectUnauthorized: false }
      throw new DatabaseError(shown, `has sslmode=${mode}, which requires a root certificate in ${path}`, {
        hint: 'Name its file with sslrootcert, or use sslrootcert=system for the certificates that this machine trusts',
      })
    }
    if (mode === 'allow' || mode === 'prefer') return { rejectUnauthorized: false }
    const ca = read(path)
    // With a root certificate, libpq treats `require` as `verify-ca`.
    return mode === 'verify-full' ? { ca } : { ca, checkServerIdentity: () => undefined }
  }

  function clientCertificate(): ConnectionOptions {
    const cert = parameter('sslcert') ?? join(folder, 'postgresql.crt')
    if (parameter('sslcert') === undefined && !existsSync(cert)) return {}
    const key = parameter('sslkey') ?? join(folder, 'postgresql.key')
    const pem = { cert: read(cert), key: read(key) }
    if (process.platform !== 'win32' && (statSync(key).mode & 0o007) !== 0) {
      throw new DatabaseError(shown, `cannot be opened: others can read the key ${key}`, {
        hint: `Run \`chmod 600 ${key}\``,
      })
    }
    return pem
  }

  function read(path: string): string {
    try {
      return readFileSync(path, 'utf8')
    } catch (error) {
      const { code } = error as { code?: string }
      throw new DatabaseError(shown, `cannot be opened: ${path} cannot be read (${code})`)
    }
  }
}

interface FoundPassword {
  readonly password: string | undefined
  /** Why the file was ignored, as the end of a sentence about it; undefined if it was read or does not exist. */
  readonly ignored: string | undefined
}

interface Wanted {
  readonly host: string
  readonly port: number
  readonly database: string
  readonly user: string
}

/**
 * Lines are `host:port:database:user:password`, where `*` matches anything; the first match counts. A file that others
 * can read is ignored (PostgreSQL, libpq, The Password File).
 */
export function findPassword(path: string, { host, port, database, user }: Wanted): FoundPassword {
  const file = statSync(path, { throwIfNoEntry: false })
  if (!file) return { password: undefined, ignored: undefined }
  if (!file.isFile()) return { password: undefined, ignored: 'is not a file' }
  if (process.platform !== 'win32' && (file.mode & 0o077) !== 0) {
    return { password: undefined, ignored: `can be read by others; run \`chmod 600 ${path}\`` }
  }
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    return { password: undefined, ignored: 'cannot be read' }
  }
  // A socket matches by its directory or as `localhost`.
  const hosts = host.startsWith('/') ? [host, 'localhost'] : [host]
  const values = [hosts, [String(port)], [database], [user]]
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith('#')) continue
    const fields = fieldsOf(line)
    const [password] = fields.slice(values.length)
    const fits = values.every((any, index) => ['*', ...any].includes(fields[index] ?? ''))
    if (password && fits) return { password, ignored: undefined }
  }
  return { password: undefined, ignored: undefined }
}

const field = String.raw`((?:\\.|[^:\\])*):`
const lineFields = new RegExp(`^${field.repeat(4)}(.*)$`)

/** Splits a line into its five fields. The last may contain colons; a backslash escapes the next character. */
function fieldsOf(line: string): string[] {
  const [, ...fields] = lineFields.exec(line) ?? []
  return fields.map((text) => text.replace(/\\(.)/g, '$1'))
}
