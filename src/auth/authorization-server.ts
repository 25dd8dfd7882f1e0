import {
  allowInsecureRequests,
  customFetch,
  discoveryRequest,
  type AuthorizationServer as Metadata,
} from 'oauth4webapi'
import { shellWord } from '../codec/display-text.ts'
import { scopes as apiScopes } from '../contract/constants.ts'
import { oauthPaths } from '../contract/oauth.ts'
import { SignInError } from './errors.ts'
import { type Fetch, objectIn, readAnswer, type SecretPlace } from './oauth-exchange.ts'

export interface AuthorizationServer {
  /** Its identifier in redirects (RFC 9207). */
  readonly issuer: string
  readonly authorizationEndpoint: string | null
  readonly tokenEndpoint: string
  readonly deviceAuthorizationEndpoint: string | null
  readonly revocationEndpoint: string | null
  /** True if each of its redirects has the parameter `iss` (RFC 9207 §3). */
  readonly sendsIssuer: boolean
  readonly secretPlace: SecretPlace
  /** Supported scopes (RFC 8414 §2, `scopes_supported`); null if it does not publish them. */
  readonly scopes: readonly string[] | null
  /** False if the server has no metadata and these are the default endpoints. */
  readonly hasMetadata: boolean
}

export interface Discovery {
  /** Base URL of the platform, without a trailing slash. */
  readonly issuer: string
  readonly fetch: Fetch
  readonly signal: AbortSignal
  /** Overrides the token endpoint of the metadata. */
  readonly tokenUrl: string | null
  /** False if requests to the URL would be unencrypted. */
  readonly isConfidential: (url: string) => boolean
}

/** RFC 8414, else the published paths. Throws a SignInError on unusable metadata, and on metadata of another issuer. */
export async function discover(discovery: Discovery): Promise<AuthorizationServer> {
  const { issuer, tokenUrl } = discovery
  const metadata = await readMetadata(discovery)
  if (metadata === null) {
    return assertConfidential(discovery, {
      issuer,
      authorizationEndpoint: issuer + oauthPaths.authorize,
      tokenEndpoint: tokenUrl ?? issuer + oauthPaths.token,
      deviceAuthorizationEndpoint: issuer + oauthPaths.deviceAuthorization,
      revocationEndpoint: issuer + oauthPaths.revoke,
      sendsIssuer: false,
      secretPlace: 'header',
      scopes: null,
      hasMetadata: false,
    })
  }
  const endpoint = (name: string) => endpointIn(issuer, metadata, name)
  return assertConfidential(discovery, {
    issuer: String(metadata['issuer']),
    authorizationEndpoint: endpoint('authorization_endpoint'),
    tokenEndpoint: tokenUrl ?? endpoint('token_endpoint') ?? throwMissing(issuer, 'token_endpoint'),
    deviceAuthorizationEndpoint: endpoint('device_authorization_endpoint'),
    revocationEndpoint: endpoint('revocation_endpoint'),
    sendsIssuer: metadata['authorization_response_iss_parameter_supported'] === true,
    secretPlace: secretPlaceOf(metadata['token_endpoint_auth_methods_supported']),
    scopes: stringsIn(metadata['scopes_supported']),
    hasMetadata: true,
  })
}

async function readMetadata({ issuer, fetch, signal }: Discovery) {
  const response = await discoveryRequest(new URL(issuer), {
    algorithm: 'oauth2',
    [customFetch]: fetch,
    // Plain http was allowed or refused when the URL was given.
    [allowInsecureRequests]: true,
    signal,
  })
  if (response.status === 429 || response.status >= 500) await readAnswer(metadataUrl(issuer), response)
  const metadata = response.status === 200 ? objectIn(await response.text()) : null
  if (typeof metadata?.['issuer'] !== 'string') return null
  if (withoutSlash(metadata['issuer']) === issuer) return metadata
  throw new SignInError('metadata_unusable', `The metadata of ${issuer} names another issuer`, {
    why: [`It names ${metadata['issuer']}`],
    // The user may copy the command: leave out an issuer with characters that a shell interprets.
    ...(/^https?:\/\/[\w.:[\]/~%-]+$/.test(metadata['issuer']) && {
      hint: `To sign in there instead: learnctl auth login --url ${shellWord(metadata['issuer'])}`,
    }),
  })
}

/** The issuer's path follows the well-known one (RFC 8414 §3.1). */
export function metadataUrl(issuer: string): string {
  const { origin, pathname } = new URL(issuer)
  return origin + oauthPaths.metadata + withoutSlash(pathname)
}

function withoutSlash(address: string): string {
  return address.replace(/\/$/, '')
}

function endpointIn(
  issuer: string,
  metadata: Readonly<Record<string, unknown>>,
  name: string,
): string | null {
  const value = metadata[name]
  if (value === undefined || value === null) return null
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : null
  if (url && /^https?:$/.test(url.protocol) && !url.hash && !url.username && !url.password) return url.href
  throw new SignInError('metadata_unusable', `Invalid ${name} in the metadata of ${issuer}`, {
    why: [`Must be an http or https URL, not ${JSON.stringify(value)}`.slice(0, 300)],
  })
}

/** The header is the default (RFC 8414 §2). */
function secretPlaceOf(methods: unknown): SecretPlace {
  return Array.isArray(methods) && !methods.includes('client_secret_basic') ? 'form' : 'header'
}

function stringsIn(value: unknown): readonly string[] | null {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : null
}

function throwMissing(issuer: string, name: string): never {
  throw new SignInError('metadata_unusable', `No ${name} in the metadata of ${issuer}`, {
    hint: 'Specify it with --token-url <url>',
  })
}

function assertConfidential({ isConfidential }: Discovery, server: AuthorizationServer): AuthorizationServer {
  const { authorizationEndpoint, tokenEndpoint, deviceAuthorizationEndpoint, revocationEndpoint } = server
  const endpoints = [authorizationEndpoint, tokenEndpoint, deviceAuthorizationEndpoint, revocationEndpoint]
  const unencrypted = endpoints.find((url) => url !== null && !isConfidential(url))
  if (unencrypted === undefined) return server
  throw new SignInError(
    'insecure_endpoint',
    `Refusing to send credentials to ${unencrypted} over unencrypted http`,
    {
      hint: 'Use https, or --insecure-http to allow it',
    },
  )
}

export function metadataOf(server: AuthorizationServer): Metadata {
  const { issuer, tokenEndpoint, deviceAuthorizationEndpoint, sendsIssuer } = server
  return {
    issuer,
    token_endpoint: tokenEndpoint,
    ...(deviceAuthorizationEndpoint !== null && {
      device_authorization_endpoint: deviceAuthorizationEndpoint,
    }),
    authorization_response_iss_parameter_supported: sendsIssuer,
  }
}

/**
 * Scopes that most commands need. Asked for on platforms that refuse the whole sign-in if a role lacks one
 * scope.
 */
export const commonScopes: readonly string[] = ['read', 'write']

/**
 * Returns the scopes to request by default: all, if the server's scopes are exactly those of this API,
 * because it then grants those that the role may have (RFC 6749 §3.3). Another server might refuse the whole
 * sign-in.
 */
export function defaultScopes(supported: readonly string[] | null): readonly string[] {
  const own: readonly string[] = apiScopes
  const same = supported?.length === own.length && own.every((scope) => supported.includes(scope))
  return same ? own : commonScopes
}
