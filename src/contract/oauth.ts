/**
 * Where OAuth 2.0 is found below the base address. A client tries these where a platform has no metadata (RFC 8414).
 */
export const oauthPaths = {
  authorize: '/oauth/authorize',
  token: '/oauth/token',
  revoke: '/oauth/revoke',
  introspect: '/oauth/introspect',
  deviceAuthorization: '/oauth/device_authorization',
  /** Where a person types in the code that a device shows. */
  device: '/oauth/device',
  /** RFC 8414 §3; the path of an issuer that has one comes after it. */
  metadata: '/.well-known/oauth-authorization-server',
  /** RFC 9728 §3; the path of an academy that has one comes after it. */
  resourceMetadata: '/.well-known/oauth-protected-resource',
} as const

/** The client that this program is to every academy: public, known from the start. */
export const ownClientId = 'learnctl'

/** The grant type of a device (RFC 8628 §3.4). */
export const deviceGrantType = 'urn:ietf:params:oauth:grant-type:device_code'
