import type { AuthorizationServer } from '../../auth/authorization-server.ts'
import { authorizationUrl, type Kept, signInByCode } from '../../auth/code-sign-in.ts'
import { SignInError } from '../../auth/errors.ts'
import { ApiError } from '../../client/errors.ts'
import { assertConfidential } from '../../client/request.ts'
import { shellWord } from '../../codec/display-text.ts'
import type { StoredTokens } from '../../config/profiles.ts'
import type { Integration } from '../../contract/integrations.ts'
import {
  classroomSignIn,
  type ForeignSignIn,
  googleScopes,
  missingScopes,
} from '../../lms/classroom-records.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import {
  googleProfile,
  googleSignInCommand,
  googleStore,
  googleTokens,
  sheetsUrl,
} from '../command/google-access.ts'
import { clientSecret, readSecret } from '../command/secret-input.ts'
import { showRequest } from '../operation/dry-run.ts'
import { UsageError } from '../terminal/errors.ts'
import { secretMask } from '../terminal/format-text.ts'
import { endPreviousSession, endSession } from './end-session.ts'
import { browserSteps } from './oauth-sign-in.ts'
import { assertUserPresent, canShowPages, redirectUriOf } from './sign-in-plan.ts'

const scopes = [`${googleScopes}spreadsheets`]
const sheetsSignIn: ForeignSignIn = { ...classroomSignIn, baseUrl: sheetsUrl, scopes, readScopes: scopes }
const server = {
  ...authorizationServerOf(sheetsSignIn, null),
  revocationEndpoint: 'https://oauth2.googleapis.com/revoke',
}

/** Stores the tokens beside the profiles. */
export async function signInToGoogle(context: Context, given: Given): Promise<void> {
  const { io, session, settings, output } = context
  const { flags } = given
  const store = googleStore(context)
  const previous = googleTokens(store)
  const id = clientIdOf(flags['client-id'], previous?.clientId ?? null, 'No OAuth client is stored yet')
  const redirectUri = redirectUriOf(flags)
  if (settings.dryRun.value) {
    return output.note(`Would open ${sheetsSignIn.authorizationUrl} for ${scopes.join(' ')}`)
  }
  assertUserPresent(context, given, 'Run the command in a terminal on a machine with a browser')
  const again = googleSignInCommand(id)
  const secret = (await readSecret(context, flags, clientSecret)) ?? (await askSecret(context, again))
  const { tokens } = await signInByCode<Kept & { readonly tokens: StoredTokens }>({
    server,
    client: { id, secret },
    origin: sheetsUrl,
    scopes,
    parameters: sheetsSignIn.parameters,
    now: io.now,
    fetch: session.fetch,
    signal: io.signal,
    sleep: io.sleep,
    again,
    redirectUri,
    ...browserSteps(context, 'Google Sheets', flags['browser'] !== false && canShowPages(io)),
    keep: async (tokens) => {
      if (tokens.refreshToken === null) throw noRefreshToken()
      assertGranted(tokens, again)
      await store.withCredentialLock(googleProfile, async () => {
        await store.change(() => ({
          active: null,
          profiles: { [googleProfile]: { url: sheetsUrl, credential: tokens } },
        }))
      })
      return { account: null, tokens }
    },
  })
  await output.done(`Signed in to Google Sheets; the tokens are in ${store.path}`)
  // Google ends all tokens of a grant with one of them, so only another client's are revoked.
  if (previous !== null && previous.clientId !== tokens.clientId) await endPreviousSession(context, previous)
}

export async function signOutOfGoogle(context: Context): Promise<void> {
  const { settings, output, io } = context
  const store = googleStore(context)
  if (settings.dryRun.value) return output.note('Would revoke the access at Google and remove the tokens')
  const { removed, reason } = await store.withCredentialLock(
    googleProfile,
    async () => {
      const tokens = googleTokens(store)
      if (tokens === null) return { removed: false, reason: null }
      const reason = await endSession(context, tokens)
      await store.change(() => ({ active: null, profiles: {} }))
      return { removed: true, reason }
    },
    io.signal,
  )
  if (reason !== null) {
    await output.note(
      `The access could not be revoked: ${reason}; remove it at https://myaccount.google.com/connections`,
    )
  }
  await output.done(removed ? 'Signed out of Google Sheets' : 'Not signed in to Google Sheets')
}

function assertGranted(tokens: StoredTokens, again: string): void {
  const missing = missingScopes(tokens.scopes, scopes)
  if (missing.length === 0) return
  throw new SignInError('access_denied', `Google did not grant access to ${missing.join(', ')}`, {
    hint: `Sign in again and allow all: ${again}`,
  })
}

export function assertOnlySignOut({ flags }: Given, names: readonly string[]): void {
  const other = names.find((name) => flags[name] !== undefined)
  if (other !== undefined) throw new UsageError(`--sign-out and --${other} cannot be used together`)
}

const kind = 'classroom'
const title = 'Google Classroom'
const contract = async () => (await import('../../contract/calls.ts')).calls.integrations

/** Stores the refresh token in the integration. */
export async function signInToIntegration(context: Context, given: Given): Promise<void> {
  const { io, session, settings, output } = context
  const { flags } = given
  if (!settings.dryRun.value) {
    assertUserPresent(context, given, 'Run the command in a terminal on a machine with a browser')
  }
  const stored = await findIntegration(context)
  const id = clientIdOf(
    flags['client-id'],
    stored?.clientId ?? null,
    'The integration has no OAuth client yet',
  )
  const redirectUri = redirectUriOf(flags)
  const scopes = flags['read-only'] === true ? classroomSignIn.readScopes : classroomSignIn.scopes
  const { set } = await contract()
  if (settings.dryRun.value) return showPage(context, id, redirectUri, scopes)
  const again = `learnctl integrations sign-in ${kind} --client-id ${shellWord(id)}`
  const secret =
    (await readSecret(context, flags, clientSecret)) ??
    (await askSecret(context, `${again} --client-secret-stdin < secret.txt`))
  const server = authorizationServerOf(classroomSignIn, stored?.tokenUrl ?? null)
  assertConfidential(server.tokenEndpoint)
  const caller = await session.caller()
  const browser = flags['browser'] !== false && canShowPages(io)
  const { tokens } = await signInByCode<Kept & { readonly tokens: StoredTokens }>({
    server,
    client: { id, secret },
    origin: stored?.baseUrl ?? classroomSignIn.baseUrl,
    scopes,
    parameters: classroomSignIn.parameters,
    now: io.now,
    fetch: session.fetch,
    signal: io.signal,
    sleep: io.sleep,
    again,
    redirectUri,
    ...browserSteps(context, title, browser),
    keep: async (tokens) => {
      const { refreshToken } = tokens
      if (refreshToken === null) throw noRefreshToken()
      const body = { clientId: id, clientSecret: secret, refreshToken }
      await caller.call(set, { params: { lmsKind: kind }, body, signal: io.signal })
      return { account: null, tokens }
    },
  })
  await output.done(`Signed in to ${title}; integration ${kind} is set up`)
  const missing = missingScopes(tokens.scopes, scopes)
  if (missing.length > 0) {
    await output.note(`Not granted: ${missing.join(', ')}; sign in again and allow all`)
  }
}

async function findIntegration({ session, io }: Context): Promise<Integration | null> {
  const { get } = await contract()
  const caller = await session.caller()
  try {
    return (await caller.call(get, { params: { lmsKind: kind }, signal: io.signal })).data
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null
    throw error
  }
}

export function clientIdOf(flag: unknown, stored: string | null, why: string): string {
  const id = typeof flag === 'string' ? flag.trim() : stored
  if (id === null) {
    throw new UsageError('--client-id is required', {
      why: [why],
      hint: 'Create one in Google Cloud Console, type Desktop app; docs/integrations/google-classroom.md has the steps',
    })
  }
  if (/^[\x20-\x7e]{1,255}$/.test(id)) return id
  throw new UsageError('Invalid --client-id: must be 1 to 255 printable ASCII characters')
}

export async function askSecret({ io, prompts }: Context, command: string): Promise<string> {
  if (io.stdin.isTTY && prompts.refusal === null) return prompts.secret('Client secret:')
  throw new UsageError('The client secret is required', {
    hint: command,
  })
}

/** `tokenUrl` replaces the token endpoint. */
export function authorizationServerOf(signIn: ForeignSignIn, tokenUrl: string | null): AuthorizationServer {
  return {
    issuer: signIn.issuer,
    authorizationEndpoint: signIn.authorizationUrl,
    tokenEndpoint: tokenUrl ?? signIn.tokenUrl,
    deviceAuthorizationEndpoint: null,
    revocationEndpoint: null,
    sendsIssuer: false,
    secretPlace: 'form',
    scopes: null,
    hasMetadata: true,
  }
}

async function showPage(
  context: Context,
  clientId: string,
  redirectUri: string | null,
  scopes: readonly string[],
): Promise<void> {
  const url = authorizationUrl({
    endpoint: classroomSignIn.authorizationUrl,
    clientId,
    redirectUri: redirectUri ?? 'http://127.0.0.1:0/callback',
    scopes,
    state: secretMask,
    challenge: secretMask,
    parameters: classroomSignIn.parameters,
  })
  await showRequest(context, { method: 'GET', url, headers: {} })
}

/** The grant ends with its access token. */
export function noRefreshToken(): SignInError {
  return new SignInError('answer_unusable', 'Google granted no refresh token', {
    why: ['Without one, access ends after an hour'],
    hint: 'Remove the access of the client at https://myaccount.google.com/connections, and sign in again',
  })
}
