import { resolve } from 'node:path'
import { isDatabaseUrl } from '../codec/database-url.ts'
import type { Environment } from './directories.ts'
import { SettingError } from './errors.ts'
import { bearerOf, isLocal, type Profile, type Profiles, profileOf, type RemoteProfile } from './profiles.ts'
import { type Origin, type Settings, type Source, sources } from './resolve-settings.ts'
import type { Chosen, Credential, RemoteTarget, Target } from './target.ts'

interface TargetSources {
  readonly settings: Settings
  readonly env: Environment
  readonly profiles: Profiles
  readonly cwd: string
}

/**
 * Null if nothing names one. A stored credential is used only for the origin that it was stored for. Throws a SettingError
 * on contradictions, unknown profiles and malformed URLs.
 */
export function chooseTarget(from: TargetSources): Target | null {
  const { url, database } = from.settings
  const profile = chosenProfile(from)
  const named = placesOf(from, profile)
  const decisive = mostSpecificSource(named)
  if (decisive === 'default') return null

  const shadowed = (chosen: Origin) =>
    named.flatMap(({ origin, shadows }) => [origin, ...shadows]).filter((origin) => origin !== chosen)
  const decides = (place: { value: unknown; origin: Origin }) =>
    place.value !== null && place.origin.source === decisive

  if (decides(url) && decides(database)) {
    const hint =
      decisive === 'environment'
        ? { hint: `Unset one of them, or set it empty: ${database.origin.name}=` }
        : {}
    throw new SettingError(`${url.origin.name} and ${database.origin.name} cannot be used together`, hint)
  }
  if (database.value !== null && decides(database)) {
    return localTarget(from, database.value, null, database.origin, shadowed(database.origin))
  }
  if (url.value !== null && decides(url)) {
    assertAddress(url.value, url.origin.name)
    const stored = profile.value === null ? null : asRemote(findProfile(from, profile.value, profile.origin))
    const used =
      stored && profile.value !== null ? { name: profile.value, stored, origin: profile.origin } : null
    return remoteTarget(from, url.value, used, {
      profile: null,
      origin: url.origin,
      shadows: shadowed(url.origin),
    })
  }
  if (profile.value === null) return null
  const stored = findProfile(from, profile.value, profile.origin)
  const shadows = shadowed(profile.origin)
  if (isLocal(stored)) return localTarget(from, stored.database, profile.value, profile.origin, shadows)
  const used = { name: profile.value, stored, origin: profile.origin }
  return remoteTarget(from, stored.url, used, { profile: profile.value, origin: profile.origin, shadows })
}

/** Null if the settings choose another target or none. */
export function chosenDatabaseUrl(from: TargetSources): { url: string; origin: Origin } | null {
  const { value, origin } = from.settings.database
  if (
    value === null ||
    !isDatabaseUrl(value) ||
    origin.source !== mostSpecificSource(placesOf(from, chosenProfile(from)))
  )
    return null
  return { url: value, origin }
}

function placesOf({ settings: { url, database } }: TargetSources, profile: Settings['profile']) {
  return [url, database, profile].filter((place) => place.value !== null)
}

function mostSpecificSource(named: readonly { readonly origin: Origin }[]): Source {
  return named.reduce<Source>((best, { origin }) => chooseMoreSpecific(best, origin.source), 'default')
}

/**
 * Throws a SettingError unless the database is a file. Only its server may use a shared database, because it
 * checks permissions.
 */
export function assertDatabasePath(database: string, origin: Origin): void {
  if (database === '') throw new SettingError(`${origin.name} must be the path of a file, not empty`)
  if (!isDatabaseUrl(database)) return
  throw new SettingError(
    `${origin.name} must be a SQLite file here: a PostgreSQL database is used through its server`,
    {
      hint: 'Serve it with `learnctl server start`, and sign in with `learnctl auth login --url <url>`',
    },
  )
}

interface UsedProfile {
  readonly name: string
  readonly stored: RemoteProfile
  readonly origin: Origin
}

function chosenProfile({ settings, profiles }: TargetSources) {
  if (settings.profile.value !== null || profiles.active === null) return settings.profile
  const origin: Origin = { source: 'profile', name: `active profile ${profiles.active}` }
  return { value: profiles.active, origin, shadows: [] }
}

function findProfile({ profiles }: TargetSources, name: string, origin: Origin): Profile {
  const profile = profileOf(profiles, name)
  if (profile) return profile
  const valid = Object.keys(profiles.profiles)
  throw new SettingError(`Profile ${JSON.stringify(name)} not found (from ${origin.name})`, {
    hint:
      valid.length > 0
        ? `Profiles: ${valid.join(', ')}`
        : 'Sign in to create one: learnctl auth login --url <url>',
    choice: { given: name, valid },
  })
}

export function assertAddress(text: string, name: string): void {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return
  const guess = /^[\w.-]+(:\d+)?(\/\S*)?$/.test(text) ? { hint: `Add the scheme: https://${text}` } : {}
  const quoted = JSON.stringify(text)
  throw new SettingError(`${name} must be a URL such as https://academy.example.org, not ${quoted}`, guess)
}

function asRemote(profile: Profile): RemoteProfile | null {
  return isLocal(profile) ? null : profile
}

function localTarget(
  { cwd }: TargetSources,
  database: string,
  profile: string | null,
  origin: Origin,
  shadows: Origin[],
) {
  assertDatabasePath(database, origin)
  return { kind: 'local', database: resolve(cwd, database), profile, origin, shadows } as const
}

function remoteTarget(
  from: TargetSources,
  url: string,
  used: UsedProfile | null,
  chosen: Chosen,
): RemoteTarget {
  const bound = used?.stored.credential
  const fits = bound?.origin === new URL(url).origin
  const candidates: Omit<Credential, 'shadows'>[] = environmentCredentials(from.env)
  if (used && bound && fits) {
    const origin: Origin = { source: used.origin.source, name: `profile ${used.name}` }
    // A profile chosen by a flag is more specific than a variable.
    const place = used.origin.source === 'flag' ? 0 : candidates.length
    const kept = { profile: used.name, tokens: bound.kind === 'oauth' ? bound : null }
    candidates.splice(place, 0, { ...bearerOf(bound), origin, kept })
  }
  const [first, ...others] = candidates
  return {
    kind: 'remote',
    ...chosen,
    url,
    credential: first ? { ...first, shadows: others.map(({ origin }) => origin) } : null,
    platform: isSameOrigin(used?.stored.url, url) ? (used?.stored.platform ?? null) : null,
    withheld: used && bound && !fits ? { profile: used.name, origin: bound.origin } : null,
  }
}

/** A platform file is for one origin only. */
function isSameOrigin(stored: string | undefined, url: string): boolean {
  return stored !== undefined && new URL(stored).origin === new URL(url).origin
}

const credentialVariables = [
  { kind: 'api_key', name: 'LEARNCTL_API_KEY' },
  { kind: 'access_token', name: 'LEARNCTL_ACCESS_TOKEN' },
] as const

export function overridingVariable(env: Environment): string | undefined {
  return credentialVariables.find(({ name }) => env[name])?.name
}

function environmentCredentials(env: Environment): Omit<Credential, 'shadows'>[] {
  const found = credentialVariables.flatMap(({ kind, name }) => {
    // A variable that is read from a file often ends with a line break.
    const value = env[name]?.trim()
    if (value && !/^[\x21-\x7e]+$/.test(value)) {
      throw new SettingError(`${name} contains spaces, line breaks or characters other than ASCII`)
    }
    return value ? [{ kind, value, origin: { source: 'environment', name } as const }] : []
  })
  if (found.length < 2) return found
  throw new SettingError('LEARNCTL_API_KEY and LEARNCTL_ACCESS_TOKEN are both set', {
    hint: 'Unset one of them',
  })
}

function chooseMoreSpecific(one: Source, other: Source): Source {
  return sources.indexOf(one) <= sources.indexOf(other) ? one : other
}
