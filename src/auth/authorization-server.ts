import {
  allowInsecureRequests,
  customFetch,
  discoveryRequest,
  type AuthorizationServer as Metadata,
} from 'oauth4webapi'
import { shellWord } from '../codec/shell-word.ts'
import { oauthPaths } from '../contract/oauth.ts'
import type { SecretPlace, SecretPlaces } from './client-identity.ts'
import { objectIn, readAnswer } from './endpoint-answer.ts'
import { SignInError } from './errors.ts'
import type { Fetch } from './fetch.ts'

/** Where an authorization server takes what. */
export interface AuthorizationServer {
  /** By which it names itself in redirects (RFC 9207). */
  readonly issuer: string
  readonly authorizationEndpoint: string | null
  readonly tokenEndpoint: string
  readonly deviceAuthorizationEndpoint: string | null
  readonly revocationEndpoint: string | null
  /** True where every redirect of its says who made it (RFC 9207 §3). */
  readonly namesItself: boolean
  readonly secretPlaces: SecretPlaces
  /** The scopes that it says it has (RFC 8414 §2, `scopes_supported`); null where it does not say. */
  readonly scopes: readonly string[] | null
  /** False where it has no metadata, and all of this is what an academy has by default. */
  readonly published: boolean
}

/** What discovery takes. */
export interface Discovery {
  /** The base address of the academy, without a trailing slash. */
  readonly issuer: string
  readonly fetch: Fetch
  readonly signal: AbortSignal
  /** The token endpoint, whatever the metadata says. */
  readonly tokenUrl: string | null
  /** Where the client secret goes, whatever the metadata says. */
  readonly secretPlace: SecretPlace | null
  /** False where what is sent to an address could be read on its way. */
  readonly isConfidential: (url: string) => boolean
}

/**
 * Looks up where the authorization server of an academy takes what (RFC 8414). Where there is no metadata, the
 * published paths are taken (contract/oauth.ts). Throws a SignInError on metadata of another issuer, on endpoints that
 * cannot be used, and on a server that cannot answer now.
 */
export async function discover(discovery: Discovery): Promise<AuthorizationServer> {
  const { issuer, tokenUrl } = discovery
  const metadata = await readMetadata(discovery)
  if (metadata === null) {
    return checked(discovery, {
      issuer,
      authorizationEndpoint: issuer + oauthPaths.authorize,
      tokenEndpoint: tokenUrl ?? issuer + oauthPaths.token,
      deviceAuthorizationEndpoint: issuer + oauthPaths.deviceAuthorization,
      revocationEndpoint: issuer + oauthPaths.revoke,
      namesItself: false,
      secretPlaces: secretPlacesOf(discovery, undefined),
      scopes: null,
      published: false,
    })
  }
  const endpoint = (name: string) => endpointIn(issuer, metadata, name)
  return checked(discovery, {
    issuer: String(metadata['issuer']),
    authorizationEndpoint: endpoint('authorization_endpoint'),
    tokenEndpoint: tokenUrl ?? endpoint('token_endpoint') ?? missing(issuer, 'token_endpoint'),
    deviceAuthorizationEndpoint: endpoint('device_authorization_endpoint'),
    revocationEndpoint: endpoint('revocation_endpoint'),
    namesItself: metadata['authorization_response_iss_parameter_supported'] === true,
    secretPlaces: secretPlacesOf(discovery, metadata['token_endpoint_auth_methods_supported']),
    scopes: textsIn(metadata['scopes_supported']),
    published: true,
  })
}

/** The metadata, which is this issuer's own; null where there is none. */
async function readMetadata({ issuer, fetch, signal }: Discovery) {
  const response = await discoveryRequest(new URL(issuer), {
    algorithm: 'oauth2',
    [customFetch]: fetch,
    // Whether plain http will do was decided when the address was given.
    [allowInsecureRequests]: true,
    signal,
  })
  if (response.status === 429 || response.status >= 500) await readAnswer(metadataUrl(issuer), response)
  const metadata = response.status === 200 ? objectIn(await response.text()) : null
  if (typeof metadata?.['issuer'] !== 'string') return null
  if (withoutSlash(metadata['issuer']) === issuer) return metadata
  throw new SignInError('metadata_unusable', `The metadata of ${issuer} names another issuer`, {
    why: [`It names ${metadata['issuer']}`],
    // Whatever a shell would obey stays out of a command that somebody copies.
    ...(/^https?:\/\/[\w.:[\]/~%-]+$/.test(metadata['issuer']) && {
      hint: `To sign in there instead: learnctl auth login --url ${shellWord(metadata['issuer'])}`,
    }),
  })
}

/** Where an issuer's metadata is: its path comes behind the well-known one (RFC 8414 §3.1). */
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

/** What the caller or the metadata says; both where neither does, because servers that take the form alone are many. */
function secretPlacesOf({ secretPlace }: Discovery, methods: unknown): SecretPlaces {
  if (secretPlace !== null) return [secretPlace]
  if (!Array.isArray(methods)) return ['header', 'form']
  if (!methods.includes('client_secret_basic')) return ['form']
  // Of what a server takes, an application may be registered with one way alone.
  return methods.includes('client_secret_post') ? ['header', 'form'] : ['header']
}

function textsIn(value: unknown): readonly string[] | null {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : null
}

function missing(issuer: string, name: string): never {
  throw new SignInError('metadata_unusable', `No ${name} in the metadata of ${issuer}`, {
    hint: 'Specify it with --token-url <url>',
  })
}

function checked({ isConfidential }: Discovery, server: AuthorizationServer): AuthorizationServer {
  const { authorizationEndpoint, tokenEndpoint, deviceAuthorizationEndpoint, revocationEndpoint } = server
  const endpoints = [authorizationEndpoint, tokenEndpoint, deviceAuthorizationEndpoint, revocationEndpoint]
  const open = endpoints.find((url) => url !== null && !isConfidential(url))
  if (open === undefined) return server
  throw new SignInError(
    'insecure_endpoint',
    `Refusing to send credentials to ${open} over unencrypted http`,
    {
      hint: 'Use https, or --insecure-http to allow it',
    },
  )
}

/** The server as oauth4webapi knows it. */
export function metadataOf(server: AuthorizationServer): Metadata {
  const { issuer, tokenEndpoint, deviceAuthorizationEndpoint, namesItself } = server
  return {
    issuer,
    token_endpoint: tokenEndpoint,
    ...(deviceAuthorizationEndpoint !== null && {
      device_authorization_endpoint: deviceAuthorizationEndpoint,
    }),
    authorization_response_iss_parameter_supported: namesItself,
  }
}
