/**
 * Paths of OAuth 2.0 below the base URL. A client tries these if a platform has no metadata (RFC 8414).
 */
export const oauthPaths = {
  authorize: '/oauth/authorize',
  token: '/oauth/token',
  revoke: '/oauth/revoke',
  introspect: '/oauth/introspect',
  deviceAuthorization: '/oauth/device_authorization',
  /** Page where a user enters the code of a device. */
  device: '/oauth/device',
  /** RFC 8414 §3; followed by the path of the issuer, if any. */
  metadata: '/.well-known/oauth-authorization-server',
  /** RFC 9728 §3; followed by the path of the academy, if any. */
  resourceMetadata: '/.well-known/oauth-protected-resource',
} as const

/** Client id of this program in every academy: a public client, built in. */
export const ownClientId = 'learnctl'

/** The grant type of a device (RFC 8628 §3.4). */
export const deviceGrantType = 'urn:ietf:params:oauth:grant-type:device_code'
