import { type Kept, signInByCode } from '../../auth/code-sign-in.ts'
import { SignInError } from '../../auth/errors.ts'
import type { StoredTokens } from '../../config/profiles.ts'
import { classroomSignIn, type ForeignSignIn, googleScopes, missingScopes } from '../../lms/classroom.ts'
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
import { UsageError } from '../terminal/errors.ts'
import { endPreviousSession, endSession } from './end-session.ts'
import { askSecret, authorizationServerOf, clientIdOf, noRefreshToken } from './integration-sign-in.ts'
import { browserSteps } from './oauth-sign-in.ts'
import { assertUserPresent, canShowPages, redirectUriOf } from './sign-in-plan.ts'

const scopes = [`${googleScopes}spreadsheets`]
const sheetsSignIn: ForeignSignIn = { ...classroomSignIn, baseUrl: sheetsUrl, scopes, readScopes: scopes }
const server = {
  ...authorizationServerOf(sheetsSignIn, null),
  revocationEndpoint: 'https://oauth2.googleapis.com/revoke',
}

/** Signs in to Google Sheets as the user of the command line, and stores the tokens beside the profiles. */
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

/** Revokes the access at Google and removes the tokens. */
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

/** Throws a UsageError for flags that signing out does not take. */
export function assertOnlySignOut({ flags }: Given, names: readonly string[]): void {
  const other = names.find((name) => flags[name] !== undefined)
  if (other !== undefined) throw new UsageError(`--sign-out and --${other} cannot be used together`)
}
