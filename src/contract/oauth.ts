import type { Scope } from './operation.ts'

/**
 * Paths of OAuth 2.0 below the base URL. A client tries these if a platform has no metadata (RFC 8414).
 */
export const oauthPaths = {
  authorize: '/oauth/authorize',
  token: '/oauth/token',
  revoke: '/oauth/revoke',
  introspect: '/oauth/introspect',
  deviceAuthorization: '/oauth/device_authorization',
  /** The user enters the code of a device there. */
  device: '/oauth/device',
  /** RFC 8414 §3; followed by the path of the issuer, if any. */
  metadata: '/.well-known/oauth-authorization-server',
  /** RFC 9728 §3; followed by the path of the academy, if any. */
  resourceMetadata: '/.well-known/oauth-protected-resource',
} as const

/** A public client, built into every academy. */
export const ownClientId = 'learnctl'

/** RFC 8628 §3.4. */
export const deviceGrantType = 'urn:ietf:params:oauth:grant-type:device_code'

/** Descriptions of the scopes on consent pages. */
export const scopeInWords: Readonly<Record<Scope, string>> = {
  read: 'View the courses, lessons, users, progress and reports that you can access',
  write: 'Change the courses, lessons, users, enrolments and progress that you can manage',
  admin: 'Administer the academy: API keys, OAuth applications, roles, passwords and permanent erasure',
}

/** Security Scheme Objects (OpenAPI 3.1.0 §4.8.27). */
export const securitySchemes = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key (lpk_…) or an OAuth 2.0 access token (lpa_…)',
  },
  oauth2: {
    type: 'oauth2',
    // OpenAPI 3.1 has no name for the device flow.
    description: `Authorization code flow with PKCE, or the device flow; server metadata is at ${oauthPaths.metadata} (RFC 8414). Tokens are opaque, never JWTs (RFC8725)`,
    flows: {
      authorizationCode: {
        authorizationUrl: oauthPaths.authorize,
        tokenUrl: oauthPaths.token,
        refreshUrl: oauthPaths.token,
        scopes: scopeInWords,
      },
    },
  },
} as const
