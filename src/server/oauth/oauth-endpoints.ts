import type { Endpoint } from '../http/endpoint.ts'
import { authorizationEndpoints } from './authorize.ts'
import { deviceAuthorizationEndpoint } from './device-authorization.ts'
import { deviceEndpoints } from './device-page.tsx'
import { introspectionEndpoint } from './introspection.ts'
import { metadataEndpoints } from './metadata.ts'
import { revocationEndpoint } from './revocation.ts'
import { tokenEndpoint } from './token.ts'

/** The OAuth 2.0 authorization server (RFC 6749, 7009, 7662, 8414, 8628, 9728). */
export const oauthEndpoints: readonly Endpoint[] = [
  ...authorizationEndpoints,
  tokenEndpoint,
  revocationEndpoint,
  introspectionEndpoint,
  deviceAuthorizationEndpoint,
  ...deviceEndpoints,
  ...metadataEndpoints,
]
