import sql, { empty, type Sql } from 'sql-template-tag'
import { isCredential } from '../../codec/credential-text.ts'
import { timeText } from '../../codec/time-text.ts'
import type { RoleName, Scope } from '../../contract/operation.ts'
import type { Database, Row } from '../database/database.ts'
import { ProblemError } from '../problem-error.ts'
import { grantable, type Principal, sightOf } from './principal.ts'
import { digest } from './secret.ts'
import { instructorAccess } from './sight.ts'

const challenge = 'Bearer realm="learnctl"'
const lastUsedEveryMs = 60_000

interface CredentialRow extends Row {
  readonly id: string
  readonly user_id: string
  readonly scopes: string
  readonly expires_at: string | null
  readonly last_used_at: string | null
  readonly role: RoleName
  readonly instructor_access: string
}

export interface Credential {
  readonly principal: Principal
  readonly expiresAt: string | null
  /** Finds a row while the credential is valid and unchanged. */
  readonly proof: Sql
  /** When the last use was stored, in milliseconds since 1970. */
  usedMs: number
}

export interface Identity {
  readonly principal: Principal
  readonly touch: boolean
  /** Finds a row while the credential is valid; undefined for a caller without one. */
  readonly proof?: Sql
}

/**
 * Identifies the caller by the Authorization header (RFC 6750 §2.1): an API key or an access token. Throws
 * 401 without a known credential, 401 `token_expired` for an expired access token and 403 `expired_key` for
 * an expired key.
 *
 * @param known cache of credentials; without it the database decides
 */
export async function identify(
  database: Database,
  authorization: string | null,
  now: Date,
  known?: CredentialCache<Credential>,
): Promise<Identity> {
  if (!authorization) {
    throw new ProblemError('missing_credentials', 'The Authorization header is required.', {
      headers: { 'www-authenticate': challenge },
    })
  }
  const [, token] = /^Bearer +([\w.~+/-]+=*)$/i.exec(authorization) ?? []
  if (!token) throw invalidToken('The Authorization header must be "Bearer <credential>".')
  const look = () => credentialOf(database, token)
  const credential = await (known ? known.find(token, look) : look())
  if (!credential) throw invalidToken('The credential is invalid or has been revoked.')
  const { principal, expiresAt } = credential
  if (expiresAt && expiresAt <= timeText(now)) throw expired(principal.method, expiresAt)
  // Once a minute shows which credentials are in use, and spares most requests a write.
  const touch = now.getTime() - credential.usedMs >= lastUsedEveryMs
  if (touch) credential.usedMs = now.getTime()
  return { principal, touch, proof: credential.proof }
}

async function credentialOf(database: Database, token: string): Promise<Credential | undefined> {
  const method = isCredential('apiKey', token) ? 'api_key' : 'oauth'
  if (method === 'oauth' && !isCredential('accessToken', token)) return undefined
  const hash = digest(token)
  const row = await (method === 'api_key' ? findKeyRow(database, hash) : findTokenRow(database, hash))
  if (!row) return undefined
  const { user_id: userId, role, id: credential, expires_at: expiresAt, last_used_at: usedAt } = row
  const scopes = (JSON.parse(row.scopes) as Scope[]).filter((scope) => grantable[role].includes(scope))
  const usedMs = usedAt === null ? Number.NEGATIVE_INFINITY : Date.parse(usedAt)
  const proof = proofOf(method, hash, row)
  const sees = sightOf(role, row.instructor_access)
  return { principal: { userId, role, sees, scopes, method, credential }, expiresAt, proof, usedMs }
}

/** Returns the academy's first user, as which a program with the database in its own process acts. */
export async function localPrincipal(database: Database): Promise<Principal> {
  const user = await database.one<{ id: string; role: string; instructor_access: string }>(
    sql`select id, role, ${instructorAccess} as instructor_access from users where id = (select value from settings where name = 'first_user')`,
  )
  if (!user) throw new ProblemError('invalid_token', 'The academy has no users.')
  const role = user.role as RoleName
  const sees = sightOf(role, user.instructor_access)
  return { userId: user.id, role, sees, scopes: grantable[role], method: 'local', credential: 'local' }
}

export async function touchCredential(
  database: Database,
  { method, credential }: Principal,
  now: Date,
): Promise<void> {
  const time = now.toISOString()
  await database.run(
    method === 'oauth'
      ? sql`update grants set last_used_at = ${time} where id = ${credential}`
      : sql`update api_keys set last_used_at = ${time} where id = ${credential}`,
  )
}

async function findKeyRow(database: Database, hash: string): Promise<CredentialRow | undefined> {
  return database.one<CredentialRow>(sql`
    select k.id, k.user_id, k.scopes, k.expires_at, k.last_used_at, u.role, ${instructorAccess} as instructor_access
    from api_keys k join users u on u.id = k.user_id
    where k.hash = ${hash} and k.revoked_at is null and u.status = 'active'`)
}

async function findTokenRow(database: Database, hash: string): Promise<CredentialRow | undefined> {
  return database.one<CredentialRow>(sql`
    select g.id, g.user_id, t.scopes, t.expires_at, g.last_used_at, u.role, ${instructorAccess} as instructor_access
    from access_tokens t join grants g on g.id = t.grant_id join users u on u.id = g.user_id
    where t.hash = ${hash} and g.revoked_at is null and u.status = 'active'`)
}

function proofOf(method: Principal['method'], hash: string, row: CredentialRow): Sql {
  const from =
    method === 'api_key'
      ? sql`api_keys c join users u on u.id = c.user_id where c.revoked_at is null and c.id = ${row.id}`
      : sql`access_tokens c join grants g on g.id = c.grant_id join users u on u.id = g.user_id
            where g.revoked_at is null and g.id = ${row.id}`
  const isSame = row.role === 'instructor' ? sql`and ${instructorAccess} = ${row.instructor_access}` : empty
  return sql`select 1 from ${from} and c.hash = ${hash} and u.status = 'active' and u.id = ${row.user_id}
    and u.role = ${row.role} and c.scopes = ${row.scopes} and coalesce(c.expires_at, '') = ${row.expires_at ?? ''}
    ${isSame}`
}

function expired(method: Principal['method'], at: string): ProblemError {
  if (method === 'api_key') return new ProblemError('expired_key', `The API key expired at ${at}.`)
  return new ProblemError('token_expired', `The access token expired at ${at}.`, {
    headers: { 'www-authenticate': `${challenge}, error="invalid_token"` },
  })
}

function invalidToken(detail: string): ProblemError {
  return new ProblemError('invalid_token', detail, {
    headers: { 'www-authenticate': `${challenge}, error="invalid_token"` },
  })
}

export interface CredentialCache<Found> {
  /**
   * Returns the cached credential with this token, else the result of `look`, which is cached unless
   * undefined.
   */
  find(token: string, look: () => Promise<Found | undefined>): Promise<Found | undefined>
  /** Drops the results of lookups in progress, too. */
  forget(): void
}

/** Maximum entries, a few hundred bytes each. */
const maxEntries = 1000
/** Maximum delay until this process sees a change by another one on the same database. */
const maxAgeMs = 1000

interface Entry<Found> {
  /** Concurrent callers share one lookup. */
  readonly found: Promise<Found | undefined>
  readonly untilMs: number
}

/** `nowMs` must be monotonic. */
export function createCredentialCache<Found extends object>(
  nowMs: () => number = () => performance.now(),
): CredentialCache<Found> {
  const known = new Map<string, Entry<Found>>()

  function learn(token: string, look: () => Promise<Found | undefined>): Promise<Found | undefined> {
    if (known.size >= maxEntries) known.clear()
    const entry = { found: look(), untilMs: nowMs() + maxAgeMs }
    known.set(token, entry)
    const drop = () => {
      if (known.get(token) === entry) known.delete(token)
    }
    entry.found.then((found) => found ?? drop(), drop)
    return entry.found
  }

  return {
    find(token, look) {
      const entry = known.get(token)
      return entry && nowMs() < entry.untilMs ? entry.found : learn(token, look)
    },
    forget: () => known.clear(),
  }
}
