import { overridingVariable } from '../../config/choose-target.ts'
import { credentialOf, isLocal, profileOf, withCredential } from '../../config/profiles.ts'
import type { Credential } from '../../config/target.ts'
import { valueAt } from '../../tables/column.ts'
import { type Command, type Given, noColumns, notAList } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { browserFlag, type Flag, googleClientIdFlag, googleRedirectUriFlag } from '../command/flag.ts'
import { clientSecret, secretFlag } from '../command/secret-input.ts'
import { grantFilters } from '../flags/access.ts'
import { maskCredential } from '../output/mask.ts'
import { shapeOfValue } from '../output/output.ts'
import { clockWarning, secondsAhead } from '../session/clock.ts'
import type { SignInPlan } from '../sign-in/sign-in-plan.ts'
import { AuthRequiredError, UsageError } from '../terminal/errors.ts'
import { recordCommands } from './record-commands.ts'

const oauthFlags: readonly Flag[] = [
  {
    name: 'device',
    kind: 'switch',
    summary: 'Sign in by entering a code in a browser on any device',
  },
  {
    name: 'scopes',
    unlisted: ['--scope'],
    kind: 'words',
    placeholder: 'scopes',
    summary: 'Scopes to request (default all that your role allows; "read write" on other platforms)',
  },
  browserFlag,
  {
    name: 'client-id',
    kind: 'text',
    placeholder: 'id',
    summary: 'Client id of an application registered with the platform (default learnctl)',
  },
  {
    ...secretFlag(clientSecret),
    summary: 'Read the client secret of that application from standard input',
  },
  {
    name: 'redirect-uri',
    kind: 'text',
    placeholder: 'uri',
    summary: 'Redirect URI to listen on, as registered for that application',
  },
  {
    name: 'token-url',
    kind: 'text',
    placeholder: 'url',
    summary: 'Token endpoint to use instead of the one that the platform publishes',
  },
]

const login: Command = {
  name: 'login',
  summary: 'Sign in to a platform with a browser, a code or an API key',
  writes: ['machine'],
  prints: [],
  description: `Opens a sign-in page in the browser and waits up to 5 minutes. If the browser runs on another
machine, paste its final URL, or use --device, which needs no terminal and waits until its
code expires. Signing in creates a profile and makes it active.

An API key is read from standard input; on a terminal you are prompted for it, and it is not
shown. The client secret of an application may also come from LEARNCTL_CLIENT_SECRET.`,
  flags: [
    { name: 'with-key', kind: 'switch', summary: 'Sign in with an API key from standard input' },
    ...oauthFlags,
  ],
  refuses: { ...noColumns, database: 'A local academy needs no sign-in' },
  examples: [
    'auth login --url https://academy.example.org',
    'auth login --device --url https://academy.example.org --scopes read',
    'auth login --with-key --url https://academy.example.org < key.txt',
  ],
  run: runLogin,
}

async function runLogin(context: Context, given: Given): Promise<void> {
  const { flags } = given
  const device = flags['device'] === true
  if (flags['with-key'] === true) {
    refuseTogether('--with-key', given, oauthFlags)
    return (await import('../sign-in/sign-in-place.ts')).signInWithKey(context)
  }
  if (device) {
    refuseTogether(
      '--device',
      given,
      oauthFlags.filter(({ name }) => name === 'redirect-uri'),
    )
  }
  const plan = await (await import('../sign-in/sign-in-plan.ts')).planSignIn(context, given)
  if (plan !== null) await signIn(context, plan, device)
}

function refuseTogether(way: string, { flags }: Given, others: readonly Flag[]): void {
  const other = others.find(({ name }) => flags[name] !== undefined)
  if (!other) return
  const name = flags[other.name] === false ? `no-${other.name}` : other.name
  throw new UsageError(`${way} and --${name} cannot be used together`)
}

async function signIn(context: Context, plan: SignInPlan, device: boolean): Promise<void> {
  const { signInWithBrowser, signInWithCode } = await import('../sign-in/oauth-sign-in.ts')
  const { reportSignedIn } = await import('../sign-in/oauth-sign-in.ts')
  await reportSignedIn(
    context,
    plan,
    await (device ? signInWithCode(context, plan) : signInWithBrowser(context, plan)),
  )
}

const logout: Command = {
  name: 'logout',
  summary: 'Sign out: end the session and remove the credential of a profile',
  writes: ['academy', 'machine'],
  prints: [],
  description:
    'The session is revoked on the platform first; if that fails, the credential is removed anyway.\nAn API key stays valid until it is revoked or expires.',
  refuses: {
    ...noColumns,
    url: 'Sign-out applies to a profile: use --profile',
    database: 'A local academy has no session',
  },
  examples: ['auth logout', 'auth logout --profile work'],
  run: runLogout,
}

async function runLogout(context: Context): Promise<void> {
  const { settings, profiles, output, io } = context
  const name = chosenProfile(context)
  const stored = credentialOf(profiles.read(), name)
  if (settings.dryRun.value) {
    const first = stored?.kind === 'oauth' ? `revoke the session at ${stored.issuer} and ` : ''
    return output.note(`Would ${first}remove the credential of profile ${name}`)
  }
  const removed = await profiles.withCredentialLock(
    name,
    async () => {
      const credential = credentialOf(profiles.read(), name)
      const { endSession } = await import('../sign-in/end-session.ts')
      const reason = credential?.kind === 'oauth' ? await endSession(context, credential) : null
      await profiles.change((all) => withCredential(all, name, undefined))
      if (reason !== null) await output.note(`The session could not be revoked: ${reason}`)
      return credential
    },
    io.signal,
  )
  await output.done(
    removed
      ? `Signed out of ${removed.origin} (profile ${name})`
      : `Profile ${name} has no stored credential`,
  )
  const variable = overridingVariable(io.env)
  if (variable) await output.note(`${variable} is still set`)
}

function chosenProfile({ settings, profiles }: Context): string {
  const stored = profiles.read()
  const name = settings.profile.value ?? stored.active
  if (name === null) throw new AuthRequiredError('No profile is active')
  const profile = profileOf(stored, name)
  if (!profile) {
    const valid = Object.keys(stored.profiles)
    throw new AuthRequiredError(`Profile not found: ${name}`, {
      choice: { given: name, valid },
    })
  }
  if (isLocal(profile)) throw new UsageError(`Profile ${name} is a local academy, which has no credential`)
  return name
}

const statusColumns = [
  'profile',
  'location',
  'source',
  'credential.source',
  'credential.scopes',
  'credential.expiresAt',
  'user.email',
  'user.role',
]

const status: Command = {
  name: 'status',
  summary: 'Show the platform and the credential in use, and where they come from',
  writes: [],
  prints: ['AuthStatus'],
  description:
    'Exits with 4 when there is no credential or the platform rejects it. An access token that is about to\nexpire is refreshed.',
  refuses: notAList,
  examples: ['auth status', 'auth status -o json'],
  run: runStatus,
}

async function runStatus(context: Context): Promise<void> {
  const { session, output, io, settings } = context
  const caller = await session.caller()
  const { users } = (await import('../../contract/calls.ts')).calls
  if (settings.dryRun.value) {
    const { showRequest } = await import('../operation/dry-run.ts')
    return showRequest(context, caller.request(users.profile, { signal: io.signal }))
  }
  const { data: user, date } = await caller.call(users.profile, { signal: io.signal })
  const target = session.target()
  const value = {
    profile: target.profile,
    location: target.kind === 'local' ? target.database : target.url,
    source: target.origin.name,
    shadows: target.shadows.map(({ name }) => name),
    credential: target.kind === 'remote' && target.credential ? shownCredential(target.credential) : null,
    user: shownUser(user),
  }
  await output.one(value, shapeOfValue(value, statusColumns))
  const warning = clockWarning(secondsAhead(date, io.now()) ?? 0)
  if (warning !== null) await output.note(warning)
}

/** Returns the public part of a credential. Only the platform knows more of a key, or of a variable's value. */
function shownCredential({ kind, value, origin, shadows, kept }: Credential) {
  const tokens = kept?.tokens ?? null
  return {
    kind: tokens ? 'oauth' : kind,
    value: maskCredential(value),
    scopes: tokens?.scopes ?? null,
    expiresAt: tokens?.expiresAt ?? null,
    refreshable: tokens !== null && tokens.refreshToken !== null,
    source: origin.name,
    shadows: shadows.map(({ name }) => name),
  }
}

/** Returns a summary of the user and their access; all fields if another platform has none of these. */
function shownUser(user: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const names = ['id', 'email', 'username', 'role', 'scopes', 'authMethod']
  const known = names.map((name) => [name, valueAt(user, name)]).filter(([, value]) => value !== undefined)
  return known.length === 0 ? user : Object.fromEntries(known)
}

const token: Command = {
  name: 'token',
  summary: 'Print the access token or API key, for other programs',
  writes: [],
  prints: [],
  description:
    'Prints the bare value, regardless of --output. An access token that is about to expire is refreshed first.',
  refuses: noColumns,
  examples: ['auth token', 'auth token --profile work'],
  run: runToken,
}

async function runToken({ session, settings, output }: Context): Promise<void> {
  if (settings.dryRun.value) {
    const target = session.target()
    const credential = target.kind === 'remote' ? target.credential : null
    if (credential) return output.note(`Would print the credential from ${credential.origin.name}`)
  }
  await output.text(`${await session.bearer()}\n`)
}

const grant = recordCommands({
  operations: async () => (await import('../../contract/calls.ts')).calls.grants,
  argument: { name: 'grant', summary: 'Id of the grant' },
  columns: ['clientName', 'scopes', 'lastUsedAt', 'createdAt', 'expiresAt', 'id', 'clientId', 'userId'],
  filters: grantFilters,
})

const grantCommands: readonly Command[] = [
  grant.list({
    name: 'grants list',
    summary: 'List the applications that may act on your behalf',
    examples: ['auth grants list', 'auth grants list --user email:admin@academy.local'],
  }),
  grant.revoke({
    name: 'grants revoke',
    summary: 'Revoke grants and all their tokens',
    consequence: 'The application loses access at once.',
    consequences: 'The applications lose access at once.',
    examples: ['auth grants revoke "$GRANT_ID" --yes'],
  }),
]

const googleFlags: readonly Flag[] = [
  googleClientIdFlag,
  secretFlag(clientSecret),
  googleRedirectUriFlag,
  browserFlag,
]

const google: Command = {
  name: 'google',
  summary: 'Sign in to Google Sheets, for --to-sheet of lists and exports',
  writes: ['machine'],
  prints: [],
  description: `Opens Google's sign-in page in the browser, for an OAuth client of your own (Google Cloud Console, type Desktop app), and
asks to read and write spreadsheets. The tokens and the client secret are stored on this machine for you alone, in
google/profiles.json beside the profiles (mode 0600). Without --client-id, the stored one is used.`,
  flags: [
    ...googleFlags,
    { name: 'sign-out', kind: 'switch', summary: 'Revoke the access at Google and remove the tokens' },
  ],
  refuses: noColumns,
  examples: [
    'auth google --client-id 1234-abc.apps.googleusercontent.com --client-secret-stdin < secret.txt',
    'auth google --sign-out',
  ],
  run: async (context, given) => {
    const { assertOnlySignOut, signInToGoogle, signOutOfGoogle } = await import(
      '../sign-in/google-sign-in.ts'
    )
    if (given.flags['sign-out'] !== true) return signInToGoogle(context, given)
    assertOnlySignOut(
      given,
      googleFlags.map(({ name }) => name),
    )
    return signOutOfGoogle(context)
  },
}

export const commands: readonly Command[] = [login, logout, status, token, google, ...grantCommands]
