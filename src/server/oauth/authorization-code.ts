import sql from 'sql-template-tag'
import type { RoleName, Scope } from '../../contract/operation.ts'
import { digest, newCredential } from '../access/secret.ts'
import { revokeGrant } from '../credentials/grants.ts'
import type { Database, Row } from '../database/database.ts'
import { type IssuedTokens, type Issuing, openGrant, writingOf } from './issue-tokens.ts'
import type { OAuthClient } from './oauth-client.ts'
import { OAuthError } from './oauth-error.ts'
import { grantableScopesOf } from './parameters.ts'
import { requireVerifier } from './pkce.ts'

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
