export interface ForeignSignIn {
  /** Identifier of the authorization server (RFC 9207). */
  readonly issuer: string
  readonly authorizationUrl: string
  readonly tokenUrl: string
  /** Base URL of the API that the access tokens are for. */
  readonly baseUrl: string
  readonly scopes: readonly string[]
  readonly readScopes: readonly string[]
  /** Parameters of the authorization request that OAuth 2.0 does not have. */
  readonly parameters: Readonly<Record<string, string>>
}

export const googleScopes = 'https://www.googleapis.com/auth/'

/**
 * Google's endpoints (accounts.google.com/.well-known/openid-configuration) and the scopes of Classroom. Without
 * `access_type=offline` there is no refresh token, without `prompt=consent` only at the first sign-in
 * (developers.google.com/identity/protocols/oauth2/web-server, "Refreshing an access token").
 */
export const classroomSignIn: ForeignSignIn = {
  issuer: 'https://accounts.google.com',
  authorizationUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
  tokenUrl: 'https://oauth2.googleapis.com/token',
  baseUrl: 'https://classroom.googleapis.com',
  scopes: [
    `${googleScopes}classroom.courses`,
    `${googleScopes}classroom.rosters`,
    `${googleScopes}classroom.profile.emails`,
    `${googleScopes}classroom.coursework.students`,
  ],
  readScopes: [
    `${googleScopes}classroom.courses.readonly`,
    `${googleScopes}classroom.rosters.readonly`,
    `${googleScopes}classroom.profile.emails`,
    `${googleScopes}classroom.coursework.students.readonly`,
  ],
  parameters: { access_type: 'offline', prompt: 'consent' },
}

/** Returns short names; a scope to write includes that to read. */
export function missingScopes(granted: readonly string[], wanted: readonly string[]): readonly string[] {
  return wanted
    .filter((scope) => !granted.includes(scope) && !granted.includes(scope.replace(/\.readonly$/, '')))
    .map((scope) => scope.replace(googleScopes, ''))
}
