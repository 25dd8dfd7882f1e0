import { oauthPaths } from './oauth.ts'
import type { Scope } from './operation.ts'

/** What each scope lets an application do, in words for the person who is asked. */
export const scopeInWords: Readonly<Record<Scope, string>> = {
  read: 'See the courses, lessons, people, progress and reports that you can see',
  write: 'Change the courses, lessons, people, enrolments and progress that you can change',
  admin: 'Administer the academy: API keys, applications, roles, passwords, erasing for good',
}

/** How a caller is known, as OpenAPI's Security Scheme Objects (OpenAPI 3.1.0 §4.8.27). */
export const securitySchemes = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key (lpk_…) or an OAuth 2.0 access token (lpa_…)',
  },
  oauth2: {
    type: 'oauth2',
    // Devices sign in as well, which no flow of OpenAPI 3.1 can say.
    description: `OAuth 2.0 authorization code with PKCE; the rest is told at ${oauthPaths.metadata} (RFC 8414)`,
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
