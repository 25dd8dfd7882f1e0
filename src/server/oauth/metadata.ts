import { scopes } from '../../contract/keys.ts'
import { oauthPaths } from '../../contract/oauth.ts'
import type { Endpoint, EndpointRequest } from '../http/endpoint.ts'
import type { Reply } from '../http/reply.ts'
import { problemReply } from '../http/request-context.ts'
import { ProblemError } from '../problem/problem-error.ts'
import { grantTypeNames } from './token.ts'

const clientAuthentication = ['none', 'client_secret_basic', 'client_secret_post']

/**
 * What the authorization server says of itself (RFC 8414), at both places where clients look for an issuer that has a
 * path: it after the well-known part (§3.1), and before it, which is what a proxy of that path leaves of it.
 */
export const metadataEndpoints: readonly Endpoint[] = [
  {
    method: 'GET',
    path: oauthPaths.metadata,
    refuse: problemReply,
    handle: (visit) => ({ reply: () => metadataOf(visit) }),
  },
  {
    method: 'GET',
    path: `${oauthPaths.metadata}/*`,
    refuse: problemReply,
    handle(visit) {
      const { path } = visit.request
      if (path === oauthPaths.metadata + visit.base) return { reply: () => metadataOf(visit) }
      throw new ProblemError('not_found', `Path ${path} not found.`)
    },
  },
]

function metadataOf({ issuer }: EndpointRequest): Reply {
  const metadata = {
    issuer,
    authorization_endpoint: issuer + oauthPaths.authorize,
    token_endpoint: issuer + oauthPaths.token,
    revocation_endpoint: issuer + oauthPaths.revoke,
    device_authorization_endpoint: issuer + oauthPaths.deviceAuthorization,
    scopes_supported: scopes,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: grantTypeNames,
    token_endpoint_auth_methods_supported: clientAuthentication,
    revocation_endpoint_auth_methods_supported: clientAuthentication,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  }
  return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(metadata) }
}
