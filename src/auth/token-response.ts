import {
  OperationProcessingError,
  processGenericTokenEndpointResponse,
  UnsupportedOperationError,
} from 'oauth4webapi'
import {
  type GrantedTokens,
  grantedTokensOf,
  type StoredTokens,
  type TokenResponse,
} from '../config/profiles.ts'
import type { AuthorizationServer } from './authorization-server.ts'
import { SignInError } from './errors.ts'
import { type ClientIdentity, type Refusal, readAnswer } from './oauth-exchange.ts'

const elsewhere = 'If the token endpoint is elsewhere, specify it with --token-url <url>'

export interface TokenPurpose {
  readonly server: AuthorizationServer
  readonly client: ClientIdentity
  /** Origin of the platform, the only one that the tokens are sent to. */
  readonly origin: string
  readonly scopes: readonly string[]
  readonly now: () => number
}

type TokenAnswer =
  | { readonly tokens: StoredTokens; readonly refusal: null }
  | { readonly tokens: null; readonly refusal: Refusal }

/** Throws as `requestGrant` does. */
export async function requestTokens(
  purpose: TokenPurpose,
  request: () => Promise<Response>,
): Promise<TokenAnswer> {
  const { server, client, origin, scopes, now } = purpose
  const { issuer, tokenEndpoint, secretPlace } = server
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

interface GrantRecipient {
  readonly issuer: string
  readonly tokenEndpoint: string
  readonly clientId: string
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** RFC 6749 §5.1 and §5.2. */
type GrantAnswer =
  | { readonly granted: GrantedTokens; readonly refusal: null }
  | { readonly granted: null; readonly refusal: Refusal }

/** `before` has fields that the response omits. Throws a SignInError unless it has bearer tokens (RFC 6750). */
export async function requestGrant(
  recipient: GrantRecipient,
  before: Pick<StoredTokens, 'refreshToken' | 'scopes'>,
  request: () => Promise<Response>,
): Promise<GrantAnswer> {
  const sentMs = recipient.now()
  const response = await request()
  const { body, refusal } = await readAnswer(recipient.tokenEndpoint, response, elsewhere)
  if (refusal !== null) return { granted: null, refusal }
  const checked = await validateTokenResponse(recipient, body, before.scopes)
  return { granted: grantedTokensOf(checked, sentMs, before), refusal: null }
}

async function validateTokenResponse(
  { issuer, tokenEndpoint, clientId }: GrantRecipient,
  body: Readonly<Record<string, unknown>>,
  asked: readonly string[],
): Promise<TokenResponse> {
  // ID tokens are not used, so an invalid one must not fail the sign-in. null means absent.
  const kept = Object.entries(body).filter(([name, value]) => name !== 'id_token' && value !== null)
  const { token_type = 'bearer', scope, ...others } = Object.fromEntries(kept)
  const response = Response.json({ ...others, token_type, scope: scopeText(scope, asked) })
  const { host } = new URL(tokenEndpoint)
  try {
    const granted = await processGenericTokenEndpointResponse({ issuer }, { client_id: clientId }, response)
    if (granted.token_type === 'bearer' && /^[\x21-\x7e]+$/.test(granted.access_token)) return granted
    throw unusableError(host, 'the access token is not a bearer token')
  } catch (error) {
    if (!(error instanceof OperationProcessingError || error instanceof UnsupportedOperationError))
      throw error
    throw unusableError(host, error.message.replace('"response" body ', ''), error)
  }
}

/** RFC 6749 §3.3. Many servers send an array, or names separated by commas, which may also be part of a name. */
function scopeText(scope: unknown, asked: readonly string[]): unknown {
  if (Array.isArray(scope) && scope.every((name) => typeof name === 'string')) return scope.join(' ')
  if (typeof scope !== 'string' || asked.some((name) => name.includes(','))) return scope
  return scope.replaceAll(',', ' ')
}

function unusableError(host: string, why: string, cause?: unknown): SignInError {
  return new SignInError('answer_unusable', `${host} returned unusable tokens: ${why}`, {
    cause,
  })
}
