import sql from 'sql-template-tag'
import { isCredential } from '../../codec/credential-text.ts'
import type { RoleName, Scope } from '../../contract/operation.ts'
import type { Database, Row } from '../database/database.ts'
import { ProblemError } from '../problem/problem-error.ts'
import { grantable, type Principal } from './principal.ts'
import { digest } from './secret.ts'

const challenge = 'Bearer realm="learnctl"'
const lastUsedEveryMs = 60_000

/** What is known of a credential and of its owner. */
interface CredentialRow extends Row {
  readonly id: string
  readonly user_id: string
  readonly scopes: string
  readonly expires_at: string | null
  readonly last_used_at: string | null
  readonly role: RoleName
}

/** A caller, and whether the time at which the credential was last used is to be kept anew. */
export interface Identity {
  readonly principal: Principal
  readonly touch: boolean
}

/**
 * Who sent a request, by its Authorization header (RFC 6750 §2.1): an API key or an access token. Throws 401 where
 * there is no credential, or none that is known, 401 `token_expired` for an access token and 403 `expired_key` for a
 * key whose time is over.
 */
export async function identify(
  database: Database,
  authorization: string | null,
  now: Date,
): Promise<Identity> {
  if (!authorization) {
    throw new ProblemError('missing_credentials', 'The Authorization header is required.', {
      headers: { 'www-authenticate': challenge },
    })
  }
  const [, token] = /^Bearer +([\w.~+/-]+=*)$/i.exec(authorization) ?? []
  if (!token) throw invalidToken('The Authorization header must be "Bearer <credential>".')
  const method = isCredential('apiKey', token) ? 'api_key' : 'oauth'
  const row = method === 'api_key' ? await keyRow(database, token) : await tokenRow(database, token)
  if (!row) throw invalidToken('The credential is invalid or has been revoked.')
  if (row.expires_at && row.expires_at <= now.toISOString()) throw expired(method, row.expires_at)
  const { user_id: userId, role, id: credential } = row
  const scopes = (JSON.parse(row.scopes) as Scope[]).filter((scope) => grantable[role].includes(scope))
  // Once a minute is enough to tell which credentials are in use, and spares most requests a write.
  const touch = !row.last_used_at || now.getTime() - Date.parse(row.last_used_at) >= lastUsedEveryMs
  return { principal: { userId, role, scopes, method, credential }, touch }
}

/** The academy's first user, as whom a program acts that has the database in its own process. */
export async function localPrincipal(database: Database): Promise<Principal> {
  const user = await database.one<{ id: string; role: string }>(
    sql`select id, role from users where id = (select value from settings where name = 'first_user')`,
  )
  if (!user) throw new ProblemError('invalid_token', 'The academy has no users.')
  const role = user.role as RoleName
  return { userId: user.id, role, scopes: grantable[role], method: 'local', credential: 'local' }
}

/** Keeps when a key, or a grant, was last used. */
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

async function keyRow(database: Database, key: string): Promise<CredentialRow | undefined> {
  return database.one<CredentialRow>(sql`
    select k.id, k.user_id, k.scopes, k.expires_at, k.last_used_at, u.role
    from api_keys k join users u on u.id = k.user_id
    where k.hash = ${digest(key)} and k.revoked_at is null and u.status = 'active'`)
}

/** The grant behind an access token, with the token's own scopes and end. */
async function tokenRow(database: Database, token: string): Promise<CredentialRow | undefined> {
  if (!isCredential('accessToken', token)) return undefined
  return database.one<CredentialRow>(sql`
    select g.id, g.user_id, t.scopes, t.expires_at, g.last_used_at, u.role
    from access_tokens t join grants g on g.id = t.grant_id join users u on u.id = g.user_id
    where t.hash = ${digest(token)} and g.revoked_at is null and u.status = 'active'`)
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
