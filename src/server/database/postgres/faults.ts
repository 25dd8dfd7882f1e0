import { ProblemError, unavailable } from '../../problem-error.ts'
import { DatabaseError } from '../database.ts'

export class PoolExhausted extends Error {
  override readonly name = 'PoolExhausted'
}

/** Errors outside the failed statement, by SQLSTATE or class, each with its Retry-After in seconds. */
const servingStates: readonly (readonly [RegExp, string, number])[] = [
  [/^40/, 'The database is busy: other changes to the same data came in between.', 1],
  [/^55P03/, 'The database is busy: another change holds a lock for too long.', 1],
  [/^57014/, 'The database took too long to answer.', 5],
  [/^53300/, 'The database has too many connections.', 5],
  [/^53100/, 'The disk of the database is full.', 30],
  [/^53/, 'The database is out of resources.', 5],
  [/^25006/, 'The database is read-only.', 30],
  [/^57P03/, 'The database is starting or shutting down.', 5],
  [/^28/, 'The database refuses the connection.', 30],
]

/** SQLSTATE of text that the encoding cannot hold: in UTF-8 only U+0000, as a character or in JSON. */
const untranslatable = ['22021', '22P05']

/**
 * Turns an error of the server or the network into 503; returns any other error unchanged. If the connection was
 * lost, the transaction was rolled back.
 */
export function servingFaultOf(error: unknown): unknown {
  if (error instanceof PoolExhausted) {
    return unavailable('Too many requests are waiting for the database.', 1, error)
  }
  const state = sqlStateOf(error)
  if (state !== undefined) {
    if (untranslatable.includes(state)) {
      return new ProblemError('validation_failed', 'Text cannot contain the character U+0000.', {
        cause: error,
      })
    }
    const known = servingStates.find(([pattern]) => pattern.test(state))
    if (known) return unavailable(known[1], known[2], error)
  }
  if (!(error instanceof ConnectionLost) && !isLost(error)) return error
  return unavailable('The connection to the database was lost.', 1, error)
}

/** `message` ends a sentence about the database. */
interface Known {
  readonly message: string
  readonly kind?: DatabaseError['kind']
  readonly hint?: string
}

const checkAddress =
  'Check the host and port, and that PostgreSQL is running and accepts connections from this machine'
const useTls = 'Use sslmode=require or stricter'
const trustTls = 'Name the root certificate with sslrootcert, or use another sslmode'

/** Errors by SQLSTATE (PostgreSQL, Appendix A). */
const openingStates: Readonly<Record<string, Known>> = {
  '28P01': {
    message: 'refuses the password',
    kind: 'refused',
    hint: 'Set PGPASSWORD, or check the password in the URL, the URL file or ~/.pgpass',
  },
  '28000': { message: 'refuses the connection', kind: 'refused' },
  '3D000': { message: 'does not exist', hint: 'Create it with `createdb`, owned by the user in the URL' },
  '42501': {
    message: 'does not allow this user to create tables',
    hint: 'Grant it with `grant create on schema public to …`',
  },
  '53300': {
    message: 'takes no more connections',
    kind: 'unreachable',
    hint: 'Use a smaller --pool-size, or raise max_connections of PostgreSQL',
  },
  '57P03': {
    message: 'is starting or shutting down',
    kind: 'unreachable',
    hint: 'Try again in a few seconds',
  },
  '57P01': { message: 'is shutting down', kind: 'unreachable', hint: 'Try again in a few seconds' },
  '57014': {
    message: 'took too long to answer',
    kind: 'unreachable',
    hint: 'Try again, or raise statement_timeout of this database or user',
  },
  '25006': { message: 'is read-only', hint: 'Use the address of the primary' },
  '53100': { message: 'cannot be written: the disk of its server is full' },
}

const codes: Readonly<Record<string, Known>> = {
  ENOTFOUND: { message: 'cannot be reached: host not found', hint: checkAddress },
  EAI_AGAIN: { message: 'cannot be reached: the name service does not answer', hint: checkAddress },
  ECONNREFUSED: { message: 'cannot be reached: connection refused', hint: checkAddress },
  EHOSTUNREACH: { message: 'cannot be reached: no route to the host', hint: checkAddress },
  ENETUNREACH: { message: 'cannot be reached: no route to the network', hint: checkAddress },
  ETIMEDOUT: { message: 'cannot be reached: timed out', hint: checkAddress },
  ENOENT: { message: 'cannot be reached: no socket there', hint: checkAddress },
  EACCES: { message: 'cannot be reached: permission denied for the socket' },
  CERT_HAS_EXPIRED: { message: 'has a certificate that has expired' },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    message: 'has a certificate for another host',
    hint: 'Use the host name in the certificate, or sslmode=verify-ca',
  },
  SELF_SIGNED_CERT_IN_CHAIN: { message: 'has a certificate that is not trusted', hint: trustTls },
  DEPTH_ZERO_SELF_SIGNED_CERT: { message: 'has a certificate that is not trusted', hint: trustTls },
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: { message: 'has a certificate that is not trusted', hint: trustTls },
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: { message: 'has a certificate that is not trusted', hint: trustTls },
}

const knownMessages: readonly (readonly [RegExp, Known])[] = [
  [/timeout/i, { message: 'cannot be reached: timed out', hint: checkAddress }],
  [
    /does not support SSL/,
    { message: 'does not support TLS', hint: 'Use sslmode=prefer or disable where the network is trusted' },
  ],
  [
    /establishing an SSL|invalid response/,
    { message: 'does not answer as PostgreSQL does', hint: checkAddress },
  ],
  [/terminated/, { message: 'closed the connection' }],
]

/** Matches the wording of PostgreSQL 15 and earlier, too. */
const namesExtension = /extension (?:"|control file ".*\/)(\w+)(?:"|\.control)/

/** Returns a DatabaseError, without the password, for a failure to open; any other error unchanged. */
export function openingFaultOf(shown: string, error: unknown): unknown {
  const cause = error instanceof ConnectionLost ? error.cause : error
  if (cause instanceof DatabaseError) return cause
  const text = cause instanceof Error ? cause.message : ''
  const state = sqlStateOf(cause)
  const extension = state === undefined ? undefined : namesExtension.exec(text)?.[1]
  if (extension !== undefined) return extensionMissing(shown, extension, cause)
  if (state !== undefined) {
    const { message = 'cannot be used', ...more } = openingStates[state] ?? {}
    const hint = /no encryption/.test(text) ? { hint: useTls } : {}
    // PostgreSQL's messages never contain the password.
    return new DatabaseError(shown, `${message}: ${text}`, { cause, ...more, ...hint })
  }
  if (!(error instanceof ConnectionLost)) return error
  const { code = '' } = (cause ?? {}) as { code?: string }
  const known = codes[code] ?? knownMessages.find(([pattern]) => pattern.test(text))?.[1]
  const { message, ...more } = known ?? { message: `cannot be reached: ${text}` }
  return new DatabaseError(shown, message, { cause, kind: 'unreachable', ...more })
}

/** The server does not have it, or this user may not create it. */
function extensionMissing(shown: string, extension: string, cause: unknown): DatabaseError {
  const hint =
    sqlStateOf(cause) === '42501'
      ? `Have its owner run \`create extension ${extension}\` in it, or grant this user \`create\` on the database`
      : 'Install the extensions that come with PostgreSQL, such as the package postgresql-contrib'
  return new DatabaseError(shown, `requires the extension ${extension}`, { cause, hint })
}

/** Statements that were sent may have run or not. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost'
}

/** 57P01 to 57P03 (the server stops or starts), 25P03 (idle-in-transaction timeout), class 08 (connection error). */
export function isLost(error: unknown): boolean {
  return error instanceof ConnectionLost || /^(57P0|08|25P03)/.test(sqlStateOf(error) ?? '')
}

const serialization = '40001'
const deadlock = '40P01'
const uniqueViolation = '23505'
const aborted = '25P02'
const division = '22012'

/** A retry may succeed; after a duplicate key it sees the other row and reports it. */
export function isConflict(error: unknown): boolean {
  return [serialization, deadlock, uniqueViolation].includes(sqlStateOf(error) ?? '')
}

export function isAborted(error: unknown): boolean {
  return sqlStateOf(error) === aborted
}

export function isDivision(error: unknown): boolean {
  return sqlStateOf(error) === division
}

/**
 * True for a prepared statement whose columns changed because another server migrated the database. A new connection
 * has no prepared statements.
 */
export function isStalePlan(error: unknown): boolean {
  return sqlStateOf(error) === '0A000' && error instanceof Error && error.message.includes('cached plan')
}

/**
 * Returns the SQLSTATE of an error of PostgreSQL (Appendix A); undefined for other errors, such as those of the
 * network, whose codes may look the same.
 */
export function sqlStateOf(error: unknown): string | undefined {
  const { code, severity } = (error ?? {}) as { code?: unknown; severity?: unknown }
  return typeof code === 'string' && typeof severity === 'string' ? code : undefined
}
