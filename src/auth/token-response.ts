import {
  OperationProcessingError,
  processGenericTokenEndpointResponse,
  UnsupportedOperationError,
} from 'oauth4webapi'
import type { StoredTokens } from '../config/profiles.ts'
import type { AuthorizationServer } from './authorization-server.ts'
import type { ClientIdentity, SecretPlace } from './client-identity.ts'
import { type Refusal, readAnswer } from './endpoint-answer.ts'
import { SignInError } from './errors.ts'
import { type GrantedTokens, grantedBy, type TokenResponse } from './tokens.ts'

const elsewhere = 'If the token endpoint is elsewhere, specify it with --token-url <url>'

/** For whom and for what tokens were asked. */
export interface TokenPurpose {
  readonly server: AuthorizationServer
  readonly client: ClientIdentity
  /** The origin of the academy: the only one that the tokens will be sent to. */
  readonly origin: string
  readonly scopes: readonly string[]
  readonly now: () => number
}

/** What the token endpoint said to a request for new tokens. */
export type TokenAnswer =
  | { readonly tokens: StoredTokens; readonly refusal: null }
  | { readonly tokens: null; readonly refusal: Refusal }

/**
 * Asks the token endpoint for the tokens of a new session, as they are stored with the place that took the client secret.
 * Throws as `requestGrant` does.
 */
export async function requestTokens(
  purpose: TokenPurpose,
  secretPlace: SecretPlace,
  request: () => Promise<Response>,
): Promise<TokenAnswer> {
  const { server, client, origin, scopes, now } = purpose
  const { issuer, tokenEndpoint } = server
  const recipient = { issuer, tokenEndpoint, clientId: client.id, now }
  const { granted, refusal } = await requestGrant(recipient, { refreshToken: null, scopes }, request)
  if (refusal !== null) return { tokens: null, refusal }
  const tokens = {
    kind: 'oauth',
    origin,
    ...granted,
    issuer,
    clientId: client.id,
    ...(client.secret !== null && { clientSecret: client.secret, secretPlace }),
    tokenEndpoint,
    revocationEndpoint: server.revocationEndpoint,
  } as const
  return { tokens, refusal: null }
}

/** Which token endpoint is asked, and by whom. */
export interface GrantRecipient {
  readonly issuer: string
  readonly tokenEndpoint: string
  readonly clientId: string
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** What a token endpoint grants (RFC 6749 §5.1), or why it refuses (§5.2). */
export type GrantAnswer =
  | { readonly granted: GrantedTokens; readonly refusal: null }
  | { readonly granted: null; readonly refusal: Refusal }

/**
 * Asks a token endpoint; what its answer leaves out is as `before`. Throws a SignInError where the answer is no token
 * response, or gives tokens that are no bearer tokens (RFC 6750).
 */
export async function requestGrant(
  recipient: GrantRecipient,
  before: Pick<StoredTokens, 'refreshToken' | 'scopes'>,
  request: () => Promise<Response>,
): Promise<GrantAnswer> {
  const sentMs = recipient.now()
  const response = await request()
  const receivedMs = recipient.now()
  const { body, refusal } = await readAnswer(recipient.tokenEndpoint, response, elsewhere)
  if (refusal !== null) return { granted: null, refusal }
  const checked = await checkedResponse(recipient, body, before.scopes)
  const timing = { sentMs, receivedMs, date: response.headers.get('date') }
  return { granted: grantedBy(checked, timing, before), refusal: null }
}

/** An answer as the token response that it is. Throws a SignInError where it is none, or gives no bearer token. */
async function checkedResponse(
  { issuer, tokenEndpoint, clientId }: GrantRecipient,
  body: Readonly<Record<string, unknown>>,
  asked: readonly string[],
): Promise<TokenResponse> {
  // Nobody here reads an ID token, so nothing in one may end a sign-in; and null says no more than nothing.
  const kept = Object.entries(body).filter(([name, value]) => name !== 'id_token' && value !== null)
  const { token_type = 'bearer', scope, ...others } = Object.fromEntries(kept)
  const response = Response.json({ ...others, token_type, scope: scopeText(scope, asked) })
  const { host } = new URL(tokenEndpoint)
  try {
    const granted = await processGenericTokenEndpointResponse({ issuer }, { client_id: clientId }, response)
    if (granted.token_type === 'bearer' && /^[\x21-\x7e]+$/.test(granted.access_token)) return granted
    throw unusable(host, 'the access token is not a bearer token')
  } catch (error) {
    if (!(error instanceof OperationProcessingError || error instanceof UnsupportedOperationError))
      throw error
    throw unusable(host, error.message.replace('"response" body ', ''), error)
  }
}

/** As RFC 6749 §3.3 has it: many servers send a list, or names between commas, which names themselves may have. */
function scopeText(scope: unknown, asked: readonly string[]): unknown {
  if (Array.isArray(scope) && scope.every((name) => typeof name === 'string')) return scope.join(' ')
  if (typeof scope !== 'string' || asked.some((name) => name.includes(','))) return scope
  return scope.replaceAll(',', ' ')
}

function unusable(host: string, why: string, cause?: unknown): SignInError {
  return new SignInError('answer_unusable', `${host} returned unusable tokens: ${why}`, {
    cause,
  })
}
