import { allowInsecureRequests, customFetch, revocationRequest } from 'oauth4webapi'
import type { StoredTokens } from '../config/profiles.ts'
import { clientAuthentication } from './client-authentication.ts'
import { SignInError } from './errors.ts'
import { type Fetch, readAnswer, refusalText } from './oauth-exchange.ts'

/**
 * Revokes a session at its server (RFC 7009): by its refresh token, which also ends its access tokens, else
 * by its access token. Throws a SignInError if the server refuses, and errors of `fetch`.
 */
export async function revoke(
  tokens: StoredTokens & { readonly revocationEndpoint: string },
  fetch: Fetch,
): Promise<void> {
  const { issuer, revocationEndpoint, clientId: id, clientSecret, secretPlace = 'header' } = tokens
  const { refreshToken, accessToken } = tokens
  const authentication = clientAuthentication({ id, secret: clientSecret ?? null }, secretPlace)
  const response = await revocationRequest(
    { issuer, revocation_endpoint: revocationEndpoint },
    { client_id: id },
    authentication,
    refreshToken ?? accessToken,
    {
      [customFetch]: fetch,
      // `fetch` decides whether plain http is allowed.
      [allowInsecureRequests]: true,
      additionalParameters: { token_type_hint: refreshToken === null ? 'access_token' : 'refresh_token' },
    },
  )
  if (response.ok) return
  const { host } = new URL(revocationEndpoint)
  const { refusal } = await readAnswer(revocationEndpoint, response)
  if (refusal) throw new SignInError('token_refused', `${host} says: ${refusalText(refusal)}`)
}
