import { shellWord } from '../../codec/shell-word.ts'
import {
  credentialOf,
  isLocal,
  type Profiles,
  profileOf,
  type StoredCredential,
} from '../../config/profiles.ts'
import { assertAddress, overridingVariable } from '../../config/target.ts'
import type { Context } from '../command/context.ts'
import { UsageError } from '../terminal/errors.ts'

/** Where somebody signs in, and under which profile that is kept. */
export interface SignInPlace {
  readonly profile: string
  /** The base address, without a trailing slash. */
  readonly url: string
}

/**
 * The place that flags, variables or the active profile name, else the one that is typed. Throws a UsageError where it
 * is a local academy, where its profile would take the place of one, and where nobody can be asked.
 */
export async function signInPlace({ settings, profiles, prompts }: Context): Promise<SignInPlace> {
  const stored = profiles.read()
  const { database, url: given, profile } = settings
  if (database.value !== null && given.value === null) refuseLocal(database.value)
  const named = profile.value ?? (given.value === null ? stored.active : null)
  const known = named === null ? undefined : profileOf(stored, named)
  if (known && isLocal(known) && given.value === null) refuseLocal(known.database)
  const text = given.value ?? (known && !isLocal(known) ? known.url : null)
  if (text === null && prompts.refusal !== null) {
    throw new UsageError('The platform URL is required', {
      why: [prompts.refusal],
      hint: 'learnctl auth login --url <url>',
    })
  }
  const address = text ?? (await prompts.text('Platform URL:'))
  assertAddress(address, given.value === null ? 'the platform URL' : given.origin.name)
  const { normaliseBaseUrl } = await import('../../client/base-url.ts')
  const url = normaliseBaseUrl(address)
  const { checkedName } = await import('./profile-name.ts')
  const name = named === null ? nameFor(url, stored) : checkedName(named)
  const held = profileOf(stored, name)
  if (!held || !isLocal(held)) return { profile: name, url }
  throw new UsageError(`Profile ${name} is a local academy (${held.database})`, {
    hint: `Sign in under another profile: learnctl auth login --profile <name> --url ${shellWord(url)}`,
  })
}

function refuseLocal(database: string): never {
  throw new UsageError(`The local academy in ${database} needs no sign-in`, {
    hint: 'To sign in to a platform: learnctl auth login --url <url>',
  })
}

/** The profile that has this address already, else one named after its host. */
function nameFor(url: string, { profiles }: Profiles): string {
  const known = Object.entries(profiles).find(([, profile]) => !isLocal(profile) && profile.url === url)
  return known?.[0] ?? new URL(url).host.replace(/[^A-Za-z0-9]+/g, '-').replace(/^-|-$/g, '')
}

/** Makes a credential that is not stored yet the one of this run, to see whom it stands for. */
export function useCredential(
  { session, settings }: Context,
  { profile, url }: SignInPlace,
  credential: { readonly kind: 'api_key' | 'access_token'; readonly value: string } | null,
): void {
  session.use({
    kind: 'remote',
    url,
    credential: credential && {
      ...credential,
      origin: { source: 'flag', name: 'auth login' },
      shadows: [],
    },
    withheld: null,
    profile,
    origin: settings.url.value === null ? settings.profile.origin : settings.url.origin,
    shadows: [],
  })
}

/** Throws a ConfigError where a credential could not be stored: whoever signs in should hear it before. */
export async function assertStorable({ profiles, io }: Context, { profile }: SignInPlace): Promise<void> {
  await profiles.withCredentialLock(profile, async () => {}, io.signal)
}

/** Stores a credential under the profile, which is the active one from then on; gives what it held before. */
export async function storeCredential(
  { profiles, io }: Context,
  { profile, url }: SignInPlace,
  credential: StoredCredential,
): Promise<StoredCredential | undefined> {
  let before: StoredCredential | undefined
  const store = () =>
    profiles.change((stored) => {
      before = credentialOf(stored, profile)
      return { active: profile, profiles: { ...stored.profiles, [profile]: { url, credential } } }
    })
  // A session that is being refreshed or ended by another process is replaced when that is over.
  await profiles.withCredentialLock(profile, store, io.signal)
  return before
}

/** Says that it worked, and which variable keeps it from being used. */
export async function announce(
  { output, io }: Context,
  { profile, url }: SignInPlace,
  account: string | null,
): Promise<void> {
  const who = account === null ? '' : ` as ${account}`
  await output.done(`Signed in to ${url}${who}; profile ${profile} is now active`)
  const overriding = overridingVariable(io.env)
  if (overriding) await output.note(`${overriding} is set and takes precedence`)
}

/** Who an account is, in the words that its platform has for it. */
export function personIn(user: { readonly email?: unknown; readonly id?: unknown }): string {
  return String(user.email ?? user.id ?? 'somebody')
}
