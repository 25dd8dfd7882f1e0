import { oauthPaths } from './oauth.ts'
import type { Scope } from './operation.ts'

/** Descriptions of the scopes on consent pages. */
export const scopeInWords: Readonly<Record<Scope, string>> = {
  read: 'View the courses, lessons, users, progress and reports that you can access',
  write: 'Change the courses, lessons, users, enrolments and progress that you can manage',
  admin: 'Administer the academy: API keys, OAuth applications, roles, passwords and permanent erasure',
}

/** Authentication methods, as OpenAPI's Security Scheme Objects (OpenAPI 3.1.0 §4.8.27). */
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
