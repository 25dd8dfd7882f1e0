import sql from 'sql-template-tag'
import type { RoleName, Scope } from '../../contract/operation.ts'
import { digest, isSame, newCredential } from '../access/secret.ts'
import { revokeGrant } from '../credentials/grants.ts'
import type { Database, Row } from '../database/database.ts'
import { type IssuedTokens, type Issuing, openGrant, writingOf } from './issue-tokens.ts'
import type { OAuthClient } from './oauth-client.ts'
import { grantableScopesOf, OAuthError, readParameter } from './parameters.ts'

const lifetimeMs = 60_000

interface Consent {
  readonly clientId: string
  readonly userId: string
  readonly redirectUri: string
  readonly scopes: readonly Scope[]
  readonly codeChallenge: string | null
}

interface CodeExchange {
  readonly code: string
  readonly redirectUri: string
  readonly verifier: string | undefined
}

interface CodeRow extends Row {
  readonly client_id: string
  readonly user_id: string
  readonly redirect_uri: string
  readonly scopes: string
  readonly code_challenge: string | null
  readonly expires_at: string
  readonly grant_id: string | null
  readonly role: RoleName
  readonly status: string
}

/** Valid for a minute. */
export async function newCode(database: Database, now: Date, consent: Consent): Promise<string> {
  const code = newCredential('authorizationCode')
  const expiresAt = new Date(now.getTime() + lifetimeMs).toISOString()
  await database.run(sql`
    insert into authorization_codes (hash, client_id, user_id, redirect_uri, scopes, code_challenge, expires_at)
    values (${digest(code)}, ${consent.clientId}, ${consent.userId}, ${consent.redirectUri},
            ${JSON.stringify(consent.scopes)}, ${consent.codeChallenge}, ${expiresAt})`)
  return code
}

/**
 * Exchanges a code for tokens, once. A second use revokes the resulting grant (RFC 6749 §4.1.2): therefore
 * its refusal is returned, to be thrown after the commit. Other errors are thrown.
 */
export async function exchangeCode(
  issuing: Issuing,
  client: OAuthClient,
  { code, redirectUri, verifier }: CodeExchange,
): Promise<IssuedTokens | OAuthError> {
  const { database, now } = issuing
  const time = now.toISOString()
  const hash = digest(code)
  const row = await database.one<CodeRow>(sql`
    select c.client_id, c.user_id, c.redirect_uri, c.scopes, c.code_challenge, c.expires_at, c.grant_id, u.role, u.status
    from authorization_codes c join users u on u.id = c.user_id
    where c.hash = ${hash}`)
  if (row?.grant_id) {
    await revokeGrant(writingOf(issuing, client.id, null), row.grant_id)
    return new OAuthError(
      'invalid_grant',
      'The code has already been used; all tokens issued for it are revoked.',
    )
  }
  const isInvalid = !row || row.expires_at <= time || row.status !== 'active'
  if (isInvalid || row.client_id !== client.id) {
    throw new OAuthError('invalid_grant', 'The code is unknown or has expired.')
  }
  if (row.redirect_uri !== redirectUri) {
    throw new OAuthError(
      'invalid_grant',
      'The redirect_uri does not match the one in the authorization request.',
    )
  }
  requireVerifier(verifier, row.code_challenge)
  const scopes = grantableScopesOf(JSON.parse(row.scopes) as Scope[], row.role)
  const { grantId, tokens } = await openGrant(issuing, { client, userId: row.user_id, scopes })
  await database.run(sql`update authorization_codes set grant_id = ${grantId} where hash = ${hash}`)
  return tokens
}

/**
 * Returns the code challenge of an authorization request; null if a confidential client sent none. Throws
 * `invalid_request` for a method other than S256, and if a public client sent none (RFC 7636 §4.4.1, RFC 9700
 * §2.1.1).
 */
export function challengeOf(query: URLSearchParams, isPublic: boolean): string | null {
  const challenge = readParameter(query, 'code_challenge')
  const method = readParameter(query, 'code_challenge_method')
  if (challenge === undefined) {
    if (!isPublic && method === undefined) return null
    throw new OAuthError('invalid_request', 'The parameter code_challenge is required (RFC 7636).')
  }
  // The default method is `plain` (RFC 7636 §4.3).
  if (method !== 'S256') {
    throw new OAuthError('invalid_request', 'The code_challenge_method must be S256.')
  }
  if (/^[\w-]{43}$/.test(challenge)) return challenge
  throw new OAuthError('invalid_request', 'The code_challenge must be a SHA-256 hash in base64url.')
}

/**
 * Throws `invalid_grant` if a verifier does not match the challenge of the code, or there is only one of them
 * (RFC 7636 §4.6, RFC 9700 §4.8.2), and `invalid_request` for a malformed verifier (RFC 7636 §4.1).
 */
function requireVerifier(verifier: string | undefined, challenge: string | null): void {
  if (verifier === undefined && challenge === null) return
  if (verifier !== undefined && !/^[\w.~-]{43,128}$/.test(verifier)) {
    throw new OAuthError(
      'invalid_request',
      'The code_verifier must be 43 to 128 letters, digits or -._~ (RFC 7636).',
    )
  }
  if (challenge === null) {
    throw new OAuthError('invalid_grant', 'The authorization request had no code_challenge.')
  }
  if (verifier !== undefined && isSame(digest(verifier), challenge)) return
  throw new OAuthError('invalid_grant', 'The code_verifier does not match the code_challenge.')
}
