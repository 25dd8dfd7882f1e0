import type { Endpoint } from '../http/endpoint.ts'
import { authorizationEndpoints } from './authorize.ts'
import { deviceAuthorizationEndpoint } from './device-code.ts'
import { deviceEndpoints } from './device-page.tsx'
import { metadataEndpoints } from './metadata.ts'
import { introspectionEndpoint, revocationEndpoint, tokenEndpoint } from './token-endpoints.ts'

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
