import { allowInsecureRequests, customFetch, refreshTokenGrantRequest } from 'oauth4webapi'
import type { StoredTokens } from '../config/profiles.ts'
import { clientAuthentication } from './client-identity.ts'
import { laterHint, type Refusal, sayingOf } from './endpoint-answer.ts'
import { SignInError } from './errors.ts'
import type { Fetch } from './fetch.ts'
import { requestGrant } from './token-response.ts'

/** What a refresh request takes beside the tokens. */
export interface RefreshContext {
  readonly fetch: Fetch
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/**
 * Asks for new tokens in place of these, once, at the one endpoint that their refresh token may go to (RFC 6749 §6).
 * Throws SignInError: `signed_out` where the grant is gone, `token_refused` on any other refusal, `server_unavailable`
 * on 429 and 5xx, `answer_unusable` on what is no token response; and whatever `fetch` throws.
 */
export async function requestRefresh(
  tokens: StoredTokens & { readonly refreshToken: string },
  { fetch, now }: RefreshContext,
): Promise<StoredTokens> {
  const { issuer, tokenEndpoint, clientId, clientSecret, secretPlace = 'header' } = tokens
  const authentication = clientAuthentication({ id: clientId, secret: clientSecret ?? null }, secretPlace)
  const { granted, refusal } = await requestGrant({ ...tokens, now }, tokens, async () => {
    const response = await refreshTokenGrantRequest(
      { issuer, token_endpoint: tokenEndpoint },
      { client_id: clientId },
      authentication,
      tokens.refreshToken,
      // Whether plain http will do is for `fetch` to say.
      { [customFetch]: fetch, [allowInsecureRequests]: true },
    )
    assertAvailable(tokenEndpoint, response)
    return response
  })
  if (refusal !== null) throw refreshRefused(tokens, refusal)
  return { ...tokens, ...granted }
}

/** Whatever a server in trouble says about it, the grant may well be in order. */
function assertAvailable(tokenEndpoint: string, { status, headers }: Response): void {
  if (status !== 429 && status < 500) return
  const { host, pathname } = new URL(tokenEndpoint)
  throw new SignInError('server_unavailable', `${host} cannot refresh the session now`, {
    why: [`POST ${pathname} returned ${status}`],
    hint: laterHint(headers),
  })
}

function refreshRefused({ issuer, tokenEndpoint }: StoredTokens, refusal: Refusal): SignInError {
  const { host } = new URL(tokenEndpoint)
  const why = [`${host} says: ${sayingOf(refusal)}`]
  return refusal.error === 'invalid_grant'
    ? new SignInError('signed_out', `The session at ${issuer} has ended`, { why })
    : new SignInError('token_refused', `${host} refused to refresh the session`, { why })
}
