import {
  type AuthorizationServer,
  commonScopes,
  defaultScopes,
  discover,
  metadataUrl,
} from '../../auth/authorization-server.ts'
import { authorizationUrl } from '../../auth/code-sign-in.ts'
import type { ClientIdentity } from '../../auth/oauth-exchange.ts'
import { assertConfidential, isConfidential } from '../../client/request.ts'
import { assertAddress } from '../../config/choose-target.ts'
import { oauthPaths, ownClientId } from '../../contract/oauth.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import type { FlagValues } from '../command/flag.ts'
import { clientSecret, readSecret } from '../command/secret-input.ts'
import { showRequest } from '../operation/dry-run.ts'
import { UsageError } from '../terminal/errors.ts'
import { secretMask } from '../terminal/format-text.ts'
import type { Io } from '../terminal/io.ts'
import { assertStorable, type SignInPlace, signInPlace, useCredential } from './sign-in-place.ts'

export interface SignInPlan {
  readonly place: SignInPlace
  readonly client: OAuthClient
  readonly server: AuthorizationServer
  readonly scopes: readonly string[]
  readonly browser: boolean
}

/** Null if it is only shown (`--dry-run`). Throws a UsageError, SettingError, RequestError or SignInError. */
export async function planSignIn(context: Context, given: Given): Promise<SignInPlan | null> {
  const { settings, session, io, output } = context
  const device = given.flags['device'] === true
  if (!device && !settings.dryRun.value) {
    assertUserPresent(
      context,
      given,
      'Set LEARNCTL_API_KEY, or use: learnctl auth login --with-key, or --device',
    )
  }
  const place = await signInPlace(context)
  const client = await oauthClient(context, given)
  const insecure = settings.insecureHttp.value
  if (!insecure) for (const url of [place.url, client.tokenUrl ?? place.url]) assertConfidential(url)
  useCredential(context, place, null)
  if (settings.dryRun.value) {
    await (device ? showDevice(context, place, client) : showBrowser(context, place, client))
    return null
  }
  await assertStorable(context, place)
  const server = await discover({
    issuer: place.url,
    fetch: session.fetch,
    signal: io.signal,
    tokenUrl: client.tokenUrl,
    isConfidential: (url) => insecure || isConfidential(url),
  })
  if (!server.hasMetadata) {
    const where = device ? server.deviceAuthorizationEndpoint : server.authorizationEndpoint
    await output.note(`${place.url} publishes no OAuth metadata; trying ${where} and ${server.tokenEndpoint}`)
  }
  return {
    place,
    client,
    server,
    scopes: client.scopes ?? defaultScopes(server.scopes),
    browser: given.flags['browser'] !== false && canShowPages(io),
  }
}

/** Throws if prompts are disabled, or the output is not shown. */
export function assertUserPresent({ settings, io }: Context, { flags }: Given, hint: string): void {
  const { noInput } = settings
  const unseen = !io.stdin.isTTY && !io.stderr.isTTY && flags['browser'] === undefined && !canShowPages(io)
  if (!noInput.value && !unseen) return
  throw new UsageError('Browser sign-in requires an interactive terminal', {
    code: 'input_needed',
    why: [
      noInput.value
        ? `Prompts are disabled (${noInput.origin.name})`
        : 'Standard input is not a terminal, and no browser is available',
    ],
    hint,
  })
}

/** True with a display, or with BROWSER. */
export function canShowPages({ env, platform }: Pick<Io, 'env' | 'platform'>): boolean {
  if (env['BROWSER']) return true
  if (platform === 'linux') return Boolean(env['DISPLAY'] || env['WAYLAND_DISPLAY'] || env['WSL_DISTRO_NAME'])
  return !env['SSH_CONNECTION']
}

async function showBrowser(context: Context, { url }: SignInPlace, client: OAuthClient): Promise<void> {
  const address = authorizationUrl({
    endpoint: url + oauthPaths.authorize,
    clientId: client.identity.id,
    redirectUri: client.redirectUri ?? 'http://127.0.0.1:0/callback',
    scopes: client.scopes ?? commonScopes,
    state: secretMask,
    challenge: secretMask,
  })
  await showRequest(context, { method: 'GET', url: address, headers: {} })
  await reportLookup(context, url)
}

async function showDevice(context: Context, { url }: SignInPlace, client: OAuthClient): Promise<void> {
  const form = new URLSearchParams({
    client_id: client.identity.id,
    scope: (client.scopes ?? commonScopes).join(' '),
  })
  await showRequest(context, {
    method: 'POST',
    url: url + oauthPaths.deviceAuthorization,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: form.toString(),
  })
  await reportLookup(context, url)
}

async function reportLookup({ output }: Context, url: string): Promise<void> {
  await output.note(`The endpoint and default scopes may differ, because ${metadataUrl(url)} is read first`)
}

const secretVariable = 'LEARNCTL_CLIENT_SECRET'

export interface OAuthClient {
  readonly identity: ClientIdentity
  /** Null for the default ones. */
  readonly scopes: readonly string[] | null
  readonly redirectUri: string | null
  readonly tokenUrl: string | null
}

async function oauthClient(context: Context, { flags }: Given): Promise<OAuthClient> {
  const id = textOf(flags, 'client-id') ?? ownClientId
  if (!/^[\x20-\x7e]{1,255}$/.test(id))
    throw new UsageError('Invalid --client-id: must be 1 to 255 printable ASCII characters')
  const tokenUrl = textOf(flags, 'token-url')
  if (tokenUrl !== null) assertAddress(tokenUrl, '--token-url')
  const scopes = scopesOf(flags)
  const redirectUri = redirectUriOf(flags)
  const secret = (await readSecret(context, flags, clientSecret)) ?? (context.io.env[secretVariable] || null)
  if (secret !== null && textOf(flags, 'client-id') === null) {
    const given = flags['client-secret-stdin'] === true ? '--client-secret-stdin' : secretVariable
    throw new UsageError(`${given} requires --client-id: ${ownClientId} itself has no secret`)
  }
  return { identity: { id, secret }, scopes, redirectUri, tokenUrl }
}

function scopesOf(flags: FlagValues): readonly string[] | null {
  const given = flags['scopes']
  // The value of this flag is a list of texts.
  const words = (given as readonly string[] | undefined)?.flatMap((text) => text.split(/\s+/))
  if (words === undefined) return null
  const scopes = [...new Set(words.filter((word) => word !== ''))]
  // RFC 6749 §3.3: valid characters of a scope.
  const wrong = scopes.find((scope) => !/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope))
  if (wrong !== undefined) throw new UsageError(`Invalid scope ${JSON.stringify(wrong)}`)
  if (scopes.length === 0) throw new UsageError('--scopes is empty', { hint: '--scopes "read write"' })
  return scopes
}

/** Returns the redirect URI, which must lead to this machine (RFC 8252 §7.3). */
export function redirectUriOf(flags: FlagValues): string | null {
  const text = textOf(flags, 'redirect-uri')
  if (text === null) return null
  const url = URL.canParse(text) ? new URL(text) : null
  const hosts = ['127.0.0.1', '[::1]', 'localhost']
  const plain = url && !url.username && !url.password && !text.includes('?') && !text.includes('#')
  if (url?.protocol === 'http:' && hosts.includes(url.hostname) && plain) return text
  throw new UsageError(`Invalid --redirect-uri ${JSON.stringify(text)}`, {
    why: ['Must be an http URL on 127.0.0.1, [::1] or localhost, without a query'],
    hint: '--redirect-uri http://127.0.0.1:8976/callback',
  })
}

function textOf(flags: FlagValues, name: string): string | null {
  const value = flags[name]
  return typeof value === 'string' ? value.trim() : null
}
