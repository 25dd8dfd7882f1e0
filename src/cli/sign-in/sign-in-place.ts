import { shellWord } from '../../codec/display-text.ts'
import { assertAddress, overridingVariable } from '../../config/choose-target.ts'
import {
  credentialOf,
  isLocal,
  type Profiles,
  profileName,
  profileOf,
  type StoredCredential,
  type StoredPlatform,
} from '../../config/profiles.ts'
import type { Context } from '../command/context.ts'
import { UsageError } from '../terminal/errors.ts'
import { readInput } from '../terminal/text-input.ts'

export interface SignInPlace {
  readonly profile: string
  /** Base URL, without a trailing slash. */
  readonly url: string
}

/**
 * Returns the place that flags, variables or the active profile name, or that the user types. Throws a
 * UsageError for a local academy, for a profile that is one, and if prompts are disabled.
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
  const { normaliseBaseUrl } = await import('../../client/request.ts')
  const url = normaliseBaseUrl(address)
  const name = named === null ? nameFor(url, stored) : validProfileName(named)
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

/** Returns the profile with this URL, else a name made from its host. */
function nameFor(url: string, { profiles }: Profiles): string {
  const known = Object.entries(profiles).find(([, profile]) => !isLocal(profile) && profile.url === url)
  return known?.[0] ?? new URL(url).host.replace(/[^A-Za-z0-9]+/g, '-').replace(/^-|-$/g, '')
}

/** Finds out its account before it is stored. */
export function useCredential(
  { session, settings, profiles }: Context,
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
    platform: platformAt(profiles.read(), profile, url),
    withheld: null,
    profile,
    origin: settings.url.value === null ? settings.profile.origin : settings.url.origin,
    shadows: [],
  })
}

/** Null if it is not for the URL. */
function platformAt(stored: Profiles, name: string, url: string): StoredPlatform | null {
  const profile = profileOf(stored, name)
  return profile && !isLocal(profile) && profile.url === url ? (profile.platform ?? null) : null
}

/** Throws a ConfigError before the sign-in. */
export async function assertStorable({ profiles, io }: Context, { profile }: SignInPlace): Promise<void> {
  await profiles.withCredentialLock(profile, async () => {}, io.signal)
}

/** Makes the profile active; returns the previous credential. */
export async function storeCredential(
  { profiles, io }: Context,
  { profile, url }: SignInPlace,
  credential: StoredCredential,
): Promise<StoredCredential | undefined> {
  let before: StoredCredential | undefined
  const store = () =>
    profiles.change((stored) => {
      before = credentialOf(stored, profile)
      const platform = platformAt(stored, profile, url)
      const changed = { url, credential, ...(platform && { platform }) }
      return { active: profile, profiles: { ...stored.profiles, [profile]: changed } }
    })
  // The lock waits until another process has refreshed or ended the session.
  await profiles.withCredentialLock(profile, store, io.signal)
  return before
}

export async function reportStored(
  { output, io }: Context,
  { profile, url }: SignInPlace,
  account: string | null,
): Promise<void> {
  const who = account === null ? '' : ` as ${account}`
  await output.done(`Signed in to ${url}${who}; profile ${profile} is now active`)
  const overriding = overridingVariable(io.env)
  if (overriding) await output.note(`${overriding} is set and takes precedence`)
}

export function accountNameOf({
  email,
  id,
}: {
  readonly email?: unknown
  readonly id?: unknown
}): string | null {
  const name = email ?? id ?? null
  return name === null ? null : String(name)
}

export function validProfileName(name: string): string {
  if (profileName.test(name)) return name
  throw new UsageError(`Invalid profile name ${JSON.stringify(name)}`, {
    why: ['Must be 1 to 64 letters, digits, - or _, beginning with a letter or digit'],
  })
}

/** Checks the key before it stores it. */
export async function signInWithKey(context: Context): Promise<void> {
  const { io, settings, session } = context
  const place = await signInPlace(context)
  const value = await readKey(context)
  useCredential(context, place, { kind: 'api_key', value })
  const caller = await session.caller()
  const { profile } = (await import('../../contract/calls.ts')).calls.users
  if (settings.dryRun.value) {
    const { showRequest } = await import('../operation/dry-run.ts')
    return showRequest(context, caller.request(profile, { signal: io.signal }))
  }
  const { data: user } = await caller.call(profile, { signal: io.signal })
  const storedAt = new Date(io.now()).toISOString()
  const replaced = await storeCredential(context, place, {
    kind: 'api_key',
    value,
    origin: new URL(place.url).origin,
    storedAt,
  })
  await reportStored(context, place, accountNameOf(user))
  if (replaced?.kind === 'oauth')
    await (await import('./end-session.ts')).endPreviousSession(context, replaced)
}

async function readKey({ io, prompts }: Context): Promise<string> {
  const text = io.stdin.isTTY ? await prompts.secret('API key:') : await readInput(io)
  const key = text.trim()
  if (key === '')
    throw new UsageError('No API key on standard input', {
      hint: 'learnctl auth login --with-key < key.txt',
    })
  if (!/^[\x21-\x7e]{1,4096}$/.test(key))
    throw new UsageError('Invalid API key: it contains spaces or line breaks')
  const { isCredential, credentialPrefixes } = await import('../../codec/credential-text.ts')
  if (key.startsWith(credentialPrefixes.apiKey) && !isCredential('apiKey', key)) {
    throw new UsageError('Invalid API key: its checksum does not match', {
      code: 'damaged_key',
      hint: 'Copy the whole key again',
    })
  }
  return key
}
