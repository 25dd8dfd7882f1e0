import { allowInsecureRequests, customFetch, revocationRequest } from 'oauth4webapi'
import type { StoredTokens } from '../config/profiles.ts'
import { clientAuthentication } from './client-identity.ts'
import { readAnswer, sayingOf } from './endpoint-answer.ts'
import { SignInError } from './errors.ts'
import type { Fetch } from './fetch.ts'

/**
 * Ends a session at the server that gave it (RFC 7009): by its refresh token, with which the access tokens go, else by
 * its access token. Throws a SignInError where the server does not do it, and whatever `fetch` throws.
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
      // Whether plain http will do is for `fetch` to say.
      [allowInsecureRequests]: true,
      additionalParameters: { token_type_hint: refreshToken === null ? 'access_token' : 'refresh_token' },
    },
  )
  if (response.ok) return
  const { host } = new URL(revocationEndpoint)
  const { refusal } = await readAnswer(revocationEndpoint, response)
  if (refusal) throw new SignInError('token_refused', `${host} says: ${sayingOf(refusal)}`)
}
