import {
  allowInsecureRequests,
  clockSkew,
  customFetch,
  processRefreshTokenResponse,
  refreshTokenGrantRequest,
  type TokenEndpointResponse,
} from 'oauth4webapi'
import type { StoredTokens } from '../config/profiles.ts'
import { readAnswer, sayingOf } from './answer.ts'
import { clientAuthentication } from './client-identity.ts'
import { SignInError } from './errors.ts'
import type { Fetch } from './fetch.ts'
import { grantedBy, skewOf } from './tokens.ts'

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
  await assertGranted(tokens, response.clone())
  const date = response.headers.get('date')
  const skewSeconds = Math.round(skewOf(date, sentMs, receivedMs) / 1000)
  const checked = await processRefreshTokenResponse(
    server,
    { ...client, [clockSkew]: skewSeconds },
    response,
    { recognizedTokenTypes: { dpop: refuseProof } },
  ).catch((error: unknown) => {
    throw unusable(tokenEndpoint, error)
  })
  return { ...tokens, ...grantedBy(checked, { sentMs, receivedMs, date }, tokens) }
}

async function assertGranted({ issuer, tokenEndpoint }: StoredTokens, response: Response): Promise<void> {
  const { host, pathname } = new URL(tokenEndpoint)
  if (response.status === 429 || response.status >= 500) {
    const seconds = /^\d{1,5}$/.exec(response.headers.get('retry-after') ?? '')?.[0]
    throw new SignInError('server_unavailable', `${host} cannot renew the session now`, {
      why: [`it answered ${response.status} to POST ${pathname}`],
      hint: seconds === undefined ? 'try again later' : `try again in ${seconds} s`,
    })
  }
  const { refusal } = await readAnswer(tokenEndpoint, response)
  if (refusal === null) return
  const why = [`${host} says ${sayingOf(refusal)}`]
  if (refusal.error === 'invalid_grant') {
    throw new SignInError('signed_out', `the session at ${issuer} has ended`, { why })
  }
  throw new SignInError('token_refused', `${host} does not renew the session`, { why })
}

function refuseProof(_: Response, { token_type: type }: TokenEndpointResponse): void {
  throw new TypeError(`its token_type is ${type}, not bearer`)
}

/** The cause is left out: what the library quotes in it may be a token. */
function unusable(tokenEndpoint: string, error: unknown): SignInError {
  const { host, pathname } = new URL(tokenEndpoint)
  return new SignInError('answer_unusable', `${host} answered what is no token response (POST ${pathname})`, {
    why: error instanceof Error ? [error.message] : [],
  })
}
