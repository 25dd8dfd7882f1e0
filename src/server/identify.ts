import sql from 'sql-template-tag'
import { isCredential } from '../contract/credential-text.ts'
import type { RoleName, Scope } from '../contract/operation.ts'
import type { Database, Row } from './database/database.ts'
import { grantable, type Principal } from './principal.ts'
import { ProblemError } from './problem-error.ts'
import { digest } from './secret.ts'

const challenge = 'Bearer realm="learnctl"'
const lastUsedEveryMs = 60_000

interface KeyRow extends Row {
  id: string
  user_id: string
  scopes: string
  expires_at: string | null
  last_used_at: string | null
  role: string
}

/** A caller, and whether the time at which the key was last used is to be kept anew. */
export interface Identity {
  readonly principal: Principal
  readonly touch: boolean
}

/**
 * Who sent a request, by its Authorization header (RFC 6750 §2.1). Throws 401 where there is no credential, or
 * none that is known, and 403 `expired_key` for a key whose time is over.
 */
export function identify(database: Database, authorization: string | null, now: Date): Identity {
  if (!authorization) {
    throw new ProblemError('missing_credentials', 'The request carries no Authorization header.', {
      headers: { 'www-authenticate': challenge },
    })
  }
  const [, token] = /^Bearer +([\w.~+/-]+=*)$/i.exec(authorization) ?? []
  if (!token) throw invalidToken('The Authorization header is not of the form "Bearer <credential>".')
  if (!isCredential('apiKey', token)) throw invalidToken('The credential is not known.')
  const key = database.one<KeyRow>(sql`
    select k.id, k.user_id, k.scopes, k.expires_at, k.last_used_at, u.role
    from api_keys k join users u on u.id = k.user_id
    where k.hash = ${digest(token)} and k.revoked_at is null and u.status = 'active'`)
  if (!key) throw invalidToken('The credential is not known.')
  if (key.expires_at && key.expires_at <= now.toISOString()) {
    throw new ProblemError('expired_key', `The API key expired at ${key.expires_at}.`)
  }
  const principal = principalOf(key.user_id, key.role as RoleName, JSON.parse(key.scopes) as Scope[], key.id)
  // Once a minute is enough to tell which keys are in use, and spares most requests a write.
  const touch = !key.last_used_at || now.getTime() - Date.parse(key.last_used_at) >= lastUsedEveryMs
  return { principal, touch }
}

/** The academy's first user, as whom a program acts that has the database in its own process. */
export function localPrincipal(database: Database): Principal {
  const user = database.one<{ id: string; role: string }>(
    sql`select id, role from users order by rowid limit 1`,
  )
  if (!user) throw new ProblemError('invalid_token', 'The academy has no users.')
  const role = user.role as RoleName
  return { userId: user.id, role, scopes: grantable[role], method: 'local', credential: 'local' }
}

/** Keeps when a key was last used. */
export function touchKey(database: Database, { credential }: Principal, now: Date): void {
  database.run(sql`update api_keys set last_used_at = ${now.toISOString()} where id = ${credential}`)
}

function principalOf(
  userId: string,
  role: RoleName,
  scopes: readonly Scope[],
  credential: string,
): Principal {
  const effective = scopes.filter((scope) => grantable[role].includes(scope))
  return { userId, role, scopes: effective, method: 'api_key', credential }
}

function invalidToken(detail: string): ProblemError {
  return new ProblemError('invalid_token', detail, {
    headers: { 'www-authenticate': `${challenge}, error="invalid_token"` },
  })
}
