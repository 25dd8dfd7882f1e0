import { discover, metadataUrl } from '../../auth/authorization-server.ts'
import { authorizationUrl } from '../../auth/code-sign-in.ts'
import { commonScopes, defaultScopes } from '../../auth/default-scopes.ts'
import { assertConfidential, isConfidential } from '../../client/base-url.ts'
import { oauthPaths } from '../../contract/oauth.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { showRequest } from '../operation/dry-run.ts'
import { UsageError } from '../terminal/errors.ts'
import type { Io } from '../terminal/io.ts'
import { masked } from '../terminal/mask-secrets.ts'
import { type OAuthClient, oauthClient } from './oauth-client.ts'
import type { SignInPlan } from './oauth-sign-in.ts'
import { assertStorable, type SignInPlace, signInPlace, useCredential } from './sign-in-place.ts'

/**
 * Prepares a sign-in with OAuth 2.0; null if it is only shown (`--dry-run`). Throws a UsageError, a
 * SettingError, a RequestError for plain http, and a SignInError.
 */
export async function planSignIn(context: Context, given: Given): Promise<SignInPlan | null> {
  const { settings, session, io, output } = context
  const device = given.flags['device'] === true
  if (!device && !settings.dryRun.value) assertUserPresent(context, given)
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
    secretPlace: client.secretPlace,
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

/** Throws if no user can open a page: prompts are disabled, or the output is not shown. */
function assertUserPresent({ settings, io }: Context, { flags }: Given): void {
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
    hint: 'Set LEARNCTL_API_KEY, or use: learnctl auth login --with-key, or --device',
  })
}

/** True if a browser can probably be opened on this machine: there is a display, or BROWSER is set. */
function canShowPages({ env, platform }: Pick<Io, 'env' | 'platform'>): boolean {
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
    state: masked,
    challenge: masked,
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
