import { scopes } from '../../contract/constants.ts'
import { oauthPaths } from '../../contract/oauth.ts'
import { problemReply } from '../http/problem-reply.ts'
import type { Reply } from '../http/reply.ts'
import type { Visit, WebRoute } from '../http/web-route.ts'
import { ProblemError } from '../problem-error.ts'
import { promptValues } from './authorization-request.ts'
import { grantTypeNames } from './token-routes.ts'

const clientAuthentication = ['none', 'client_secret_basic', 'client_secret_post']

/**
 * Metadata of the authorization server (RFC 8414) and the protected resource (RFC 9728), each at both URLs
 * where clients look if the issuer has a path: with the path after the well-known part (§3.1 of both), and
 * before it, which is what a proxy of that path forwards.
 */
export const metadataRoutes: readonly WebRoute[] = [
  ...documentAt(oauthPaths.metadata, serverMetadata),
  ...documentAt(oauthPaths.resourceMetadata, resourceMetadata),
]

function documentAt(place: WebRoute['path'], document: (visit: Visit) => object): WebRoute[] {
  const reply = (visit: Visit): Reply => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(document(visit)),
  })
  return [
    { method: 'GET', path: place, refuse: problemReply, handle: (visit) => ({ reply: () => reply(visit) }) },
    {
      method: 'GET',
      path: `${place}/*`,
      refuse: problemReply,
      handle: (visit) => ({
        reply() {
          const { path } = visit.request
          if (path === place + visit.base) return reply(visit)
          throw new ProblemError('not_found', `Path ${path} not found.`)
        },
      }),
    },
  ]
}

function serverMetadata({ issuer }: Visit): object {
  return {
    issuer,
    authorization_endpoint: issuer + oauthPaths.authorize,
    token_endpoint: issuer + oauthPaths.token,
    revocation_endpoint: issuer + oauthPaths.revoke,
    introspection_endpoint: issuer + oauthPaths.introspect,
    device_authorization_endpoint: issuer + oauthPaths.deviceAuthorization,
    // Scopes of machines are left out: clients sign users in with all scopes that are listed.
    scopes_supported: scopes,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: grantTypeNames,
    token_endpoint_auth_methods_supported: clientAuthentication,
    revocation_endpoint_auth_methods_supported: clientAuthentication,
    introspection_endpoint_auth_methods_supported: clientAuthentication,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    prompt_values_supported: promptValues,
    protected_resources: [issuer],
  }
}

/** RFC 9728 §2. */
function resourceMetadata({ issuer }: Visit): object {
  return {
    resource: issuer,
    authorization_servers: [issuer],
    scopes_supported: scopes,
    bearer_methods_supported: ['header'],
  }
}
