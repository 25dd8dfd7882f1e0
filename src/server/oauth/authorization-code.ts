import sql from 'sql-template-tag'
import type { RoleName, Scope } from '../../contract/operation.ts'
import { digest, isSame, newCredential } from '../access/secret.ts'
import { revokeGrant } from '../credentials/grants.ts'
import type { Database, Row } from '../database/database.ts'
import type { Reply } from '../http/reply.ts'
import type { Visit } from '../http/web-route.ts'
import { seeOther } from '../pages/page.tsx'
import { ProblemError } from '../problem-error.ts'
import { type IssuedTokens, type Issuing, openGrant, writingOf } from './issue-tokens.ts'
import {
  findClient,
  grantableScopesOf,
  type OAuthClient,
  OAuthError,
  parseScopes,
  readParameter,
  readRequiredParameter,
  toPrintable,
} from './oauth-client.ts'

export interface Recipient {
  readonly client: OAuthClient
  readonly redirectUri: string
  /** Returned unchanged (RFC 6749 §4.1.2). */
  readonly state: string | undefined
}

export interface AuthorizationRequest {
  readonly scopes: readonly Scope[]
  readonly codeChallenge: string | null
  readonly prompts: readonly Prompt[]
}

/** Throws 400, for the user: browsers are never redirected to an unregistered URI (RFC 6749 §4.1.2.1). */
export async function recipientOf({ database, query }: Visit): Promise<Recipient> {
  const client = await findClient(database, readForUser(query, 'client_id'))
  if (!client) throw unanswerable('The application is not registered here (client_id).')
  const redirectUri = readForUser(query, 'redirect_uri')
  if (!isRegistered(redirectUri, client.redirectUris)) {
    throw unanswerable(
      `The redirect_uri is not registered for ${client.name}, so you cannot be sent back to it.`,
    )
  }
  const [state, ...others] = query.getAll('state')
  return { client, redirectUri, state: others.length > 0 ? undefined : state || undefined }
}

/** Throws OAuthError, for the client (RFC 6749 §4.1.2.1). */
export function authorizationRequestOf({ query }: Visit, { client }: Recipient): AuthorizationRequest {
  readParameter(query, 'state')
  const type = readRequiredParameter(query, 'response_type')
  if (type !== 'code') throw new OAuthError('unsupported_response_type', 'The response_type must be code.')
  const mode = readParameter(query, 'response_mode')
  if (mode !== undefined && mode !== 'query') {
    throw new OAuthError('invalid_request', 'The response_mode must be query.')
  }
  const codeChallenge = challengeOf(query, client.isPublic)
  return { codeChallenge, prompts: promptsOf(query), scopes: parseScopes(readParameter(query, 'scope')) }
}

/** 303, with the issuer (RFC 9207) and the state. */
export function answerClient(
  { issuer }: Visit,
  { redirectUri, state }: Recipient,
  answer: { readonly code: string } | OAuthError,
): Reply {
  const parameters =
    answer instanceof OAuthError
      ? { error: answer.code, error_description: toPrintable(answer.message) }
      : { code: answer.code }
  const reply = seeOther(answerAddress(redirectUri, { ...parameters, state, iss: issuer }))
  return answer instanceof OAuthError ? { ...reply, code: answer.code } : reply
}

function readForUser(query: URLSearchParams, name: string): string {
  try {
    return readRequiredParameter(query, name)
  } catch (error) {
    throw error instanceof OAuthError ? unanswerable(error.message) : error
  }
}

function unanswerable(why: string): ProblemError {
  return new ProblemError(
    'invalid_parameter',
    `${why} Report this to the developers of the application that sent you here.`,
  )
}

/** OpenID Connect Core §3.1.2.1. */
export const promptValues = ['none', 'login', 'consent', 'select_account'] as const

type Prompt = (typeof promptValues)[number]

/**
 * Returns the requested prompts. By default there are none: every user is asked for consent and can choose
 * another account there. Throws `invalid_request` for an unsupported combination.
 */
function promptsOf(query: URLSearchParams): readonly Prompt[] {
  const given = readParameter(query, 'prompt')?.split(' ') ?? []
  const known = promptValues.filter((value) => given.includes(value))
  if (known.length !== new Set(given).size) {
    throw new OAuthError('invalid_request', `The prompt must be one or more of ${promptValues.join(', ')}.`)
  }
  if (known.includes('none') && known.length > 1) {
    throw new OAuthError('invalid_request', 'The prompt none cannot be combined with others.')
  }
  return known
}

const loopbackPort = /^(http:\/\/(?:127\.0\.0\.1|\[::1\])):\d{1,5}(?=[/?]|$)/

/** Equal but for the port of 127.0.0.1 and [::1] (RFC 8252 §7.3, RFC 9700 §4.1.3); not normalized on purpose. */
export function isRegistered(asked: string, registered: readonly string[]): boolean {
  return registered.some((uri) => removePort(uri) === removePort(asked)) && URL.canParse(asked)
}

/** Keeps the query of the URI (RFC 6749 §3.1.2). */
function answerAddress(uri: string, answer: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(answer)) if (value !== undefined) query.set(name, value)
  const link = uri.includes('?') ? (/[?&]$/.test(uri) ? '' : '&') : '?'
  return `${uri}${link}${query}`
}

/**
 * Returns the source expression with which a Content-Security-Policy allows a form to lead to the URI (CSP
 * Level 3 §2.3.1): its origin, or the scheme for an origin that cannot be written, such as IPv6.
 */
export function formTargetOf(uri: string): string {
  const { origin, protocol } = new URL(uri)
  return /^https?:\/\/[\w.-]+(:\d+)?$/.test(origin) ? origin : protocol
}

export function placeOf(uri: string): string {
  const { protocol, hostname, host } = new URL(uri)
  if (protocol !== 'http:' && protocol !== 'https:') return `the app that opens ${protocol} links`
  const own = ['127.0.0.1', '[::1]', 'localhost'].includes(hostname)
  return own ? `a program on this computer (${host})` : host
}

function removePort(uri: string): string {
  return uri.replace(loopbackPort, '$1')
}

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
 * Null if a confidential client sent none. Throws `invalid_request` for a method other than S256, and if a public client
 * sent none (RFC 7636 §4.4.1, RFC 9700 §2.1.1).
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
 * Throws `invalid_grant` for a mismatch, or if only one is there (RFC 7636 §4.6, RFC 9700 §4.8.2), and `invalid_request`
 * for a malformed verifier (RFC 7636 §4.1).
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
