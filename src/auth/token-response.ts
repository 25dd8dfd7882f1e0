import {
  OperationProcessingError,
  processGenericTokenEndpointResponse,
  UnsupportedOperationError,
} from 'oauth4webapi'
import type { StoredTokens } from '../config/profiles.ts'
import type { AuthorizationServer } from './authorization-server.ts'
import type { ClientIdentity } from './client-identity.ts'
import { type Refusal, readAnswer } from './endpoint-answer.ts'
import { SignInError } from './errors.ts'
import { grantedBy, type TokenResponse } from './tokens.ts'

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
 * Asks the token endpoint and makes what is stored of its answer (RFC 6749 §5.1). Throws a SignInError where the answer
 * is no token response, or gives tokens that are no bearer tokens (RFC 6750).
 */
export async function requestTokens(
  purpose: TokenPurpose,
  request: () => Promise<Response>,
): Promise<TokenAnswer> {
  const { server, client, origin, scopes, now } = purpose
  const sentMs = now()
  const response = await request()
  const receivedMs = now()
  const { body, refusal } = await readAnswer(server.tokenEndpoint, response)
  if (refusal !== null) return { tokens: null, refusal }
  const granted = await checkedResponse(server, client.id, body)
  const timing = { sentMs, receivedMs, date: response.headers.get('date') }
  const tokens = {
    kind: 'oauth',
    origin,
    ...grantedBy(granted, timing, { refreshToken: null, scopes }),
    issuer: server.issuer,
    clientId: client.id,
    ...(client.secret !== null && { clientSecret: client.secret, secretPlace: server.secretPlace }),
    tokenEndpoint: server.tokenEndpoint,
    revocationEndpoint: server.revocationEndpoint,
  } as const
  return { tokens, refusal: null }
}

/** An answer as the token response that it is. Throws a SignInError where it is none, or gives no bearer token. */
export async function checkedResponse(
  { issuer, tokenEndpoint }: Pick<AuthorizationServer, 'issuer' | 'tokenEndpoint'>,
  clientId: string,
  body: Readonly<Record<string, unknown>>,
): Promise<TokenResponse> {
  // Nobody here reads an ID token, so nothing in one may end a sign-in; and null says no more than nothing.
  const kept = Object.entries(body).filter(([name, value]) => name !== 'id_token' && value !== null)
  const response = Response.json(Object.fromEntries(kept))
  const { host } = new URL(tokenEndpoint)
  try {
    const granted = await processGenericTokenEndpointResponse({ issuer }, { client_id: clientId }, response)
    if (granted.token_type === 'bearer' && /^[\x21-\x7e]+$/.test(granted.access_token)) return granted
    throw unusable(host, 'its access token is no bearer token')
  } catch (error) {
    if (!(error instanceof OperationProcessingError || error instanceof UnsupportedOperationError))
      throw error
    throw unusable(host, error.message.replace('"response" body ', ''), error)
  }
}

function unusable(host: string, why: string, cause?: unknown): SignInError {
  return new SignInError('answer_unusable', `${host} answered with tokens that cannot be used: ${why}`, {
    cause,
  })
}
