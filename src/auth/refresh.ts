import { allowInsecureRequests, customFetch, refreshTokenGrantRequest } from 'oauth4webapi'
import type { StoredTokens } from '../config/profiles.ts'
import { clientAuthentication } from './client-identity.ts'
import { laterHint, type Refusal, readAnswer, sayingOf } from './endpoint-answer.ts'
import { SignInError } from './errors.ts'
import type { Fetch } from './fetch.ts'
import { checkedResponse } from './token-response.ts'
import { grantedBy } from './tokens.ts'

/** What a token request takes of the world. */
export interface RefreshWorld {
  readonly fetch: Fetch
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/**
 * Asks for new tokens in place of these, once, at the one endpoint that their refresh token may go to (RFC 6749 §6).
 * Throws SignInError: `signed_out` where the grant is gone, `token_refused` on any other refusal, `server_unavailable`
 * on 429 and 5xx, `answer_unusable` on what is no token response; and whatever `fetch` throws.
 */
export async function refreshed(
  tokens: StoredTokens & { readonly refreshToken: string },
  { fetch, now }: RefreshWorld,
): Promise<StoredTokens> {
  const { issuer, tokenEndpoint, clientId: id, clientSecret, secretPlace = 'header' } = tokens
  const server = { issuer, token_endpoint: tokenEndpoint }
  const client = { client_id: id }
  const authentication = clientAuthentication({ id, secret: clientSecret ?? null }, secretPlace)
  const sentMs = now()
  const response = await refreshTokenGrantRequest(server, client, authentication, tokens.refreshToken, {
    [customFetch]: fetch,
    // Whether plain http will do is for `fetch` to say.
    [allowInsecureRequests]: true,
  })
  const receivedMs = now()
  assertAble(tokenEndpoint, response)
  const { body, refusal } = await readAnswer(tokenEndpoint, response)
  if (refusal !== null) throw refusedFor(tokens, refusal)
  const granted = await checkedResponse({ issuer, tokenEndpoint }, id, body)
  const timing = { sentMs, receivedMs, date: response.headers.get('date') }
  return { ...tokens, ...grantedBy(granted, timing, tokens) }
}

/** Whatever a server in trouble says about it, the grant may well be in order. */
function assertAble(tokenEndpoint: string, { status, headers }: Response): void {
  if (status !== 429 && status < 500) return
  const { host, pathname } = new URL(tokenEndpoint)
  throw new SignInError('server_unavailable', `${host} cannot renew the session now`, {
    why: [`it answered ${status} to POST ${pathname}`],
    hint: laterHint(headers),
  })
}

function refusedFor({ issuer, tokenEndpoint }: StoredTokens, refusal: Refusal): SignInError {
  const { host } = new URL(tokenEndpoint)
  const why = [`${host} says ${sayingOf(refusal)}`]
  return refusal.error === 'invalid_grant'
    ? new SignInError('signed_out', `the session at ${issuer} has ended`, { why })
    : new SignInError('token_refused', `${host} does not renew the session`, { why })
}
