import { resolve } from 'node:path'
import { isDatabaseUrl } from '../codec/database-url.ts'
import type { Environment } from './directories.ts'
import { SettingError } from './errors.ts'
import {
  bearerOf,
  isLocal,
  type Profile,
  type Profiles,
  profileOf,
  type RemoteProfile,
  type StoredTokens,
} from './profiles.ts'
import { type Origin, type Settings, type Source, sources } from './settings.ts'

/** What is sent as the bearer (RFC 6750), where it came from, and which others it keeps from being used. */
export interface Credential {
  readonly kind: 'api_key' | 'access_token'
  readonly value: string
  readonly origin: Origin
  readonly shadows: readonly Origin[]
  /** The profile that it is kept in, and what an access token was stored with; absent for what a variable holds. */
  readonly kept?: { readonly profile: string; readonly tokens: StoredTokens | null }
}

interface Chosen {
  /** The profile in use, null where a flag or variable names the academy itself. */
  readonly profile: string | null
  readonly origin: Origin
  readonly shadows: readonly Origin[]
}

/** An academy in this process: the absolute path of its database. */
export interface LocalTarget extends Chosen {
  readonly kind: 'local'
  readonly database: string
}

/** A platform elsewhere. */
export interface RemoteTarget extends Chosen {
  readonly kind: 'remote'
  /** As it was given: http or https. */
  readonly url: string
  readonly credential: Credential | null
  /** A profile whose credential was stored for another origin, and therefore not used. */
  readonly withheld: { readonly profile: string; readonly origin: string } | null
}

/** An academy, here or elsewhere. */
export type Target = LocalTarget | RemoteTarget

/** What a target is called: the host of a platform elsewhere, or the database of an academy here. */
export function platformName(target: Target): string {
  return target.kind === 'remote' ? new URL(target.url).host : target.database
}

/** What a target is chosen from. */
export interface TargetSources {
  readonly settings: Settings
  readonly env: Environment
  readonly profiles: Profiles
  readonly cwd: string
}

/**
 * Which academy is meant, and which credential goes there; null where nothing names one. The most specific place that
 * names an address, a database or a profile decides. A stored credential goes only to the origin it was stored for.
 * Throws a SettingError on contradictions, unknown profiles and malformed addresses.
 */
export function chooseTarget(from: TargetSources): Target | null {
  const { url, database } = from.settings
  const profile = chosenProfile(from)
  const named = placesOf(from, profile)
  const decisive = decisiveAmong(named)
  if (decisive === 'default') return null

  const shadowed = (chosen: Origin) =>
    named.flatMap(({ origin, shadows }) => [origin, ...shadows]).filter((origin) => origin !== chosen)
  const decides = (place: { value: unknown; origin: Origin }) =>
    place.value !== null && place.origin.source === decisive

  if (decides(url) && decides(database)) {
    throw new SettingError(`${url.origin.name} and ${database.origin.name} cannot be used together`)
  }
  if (database.value !== null && decides(database)) {
    return local(from, database.value, null, database.origin, shadowed(database.origin))
  }
  if (url.value !== null && decides(url)) {
    assertAddress(url.value, url.origin.name)
    const stored =
      profile.value === null ? null : remoteOnly(findProfile(from, profile.value, profile.origin))
    const used =
      stored && profile.value !== null ? { name: profile.value, stored, origin: profile.origin } : null
    return remote(from, url.value, used, { profile: null, origin: url.origin, shadows: shadowed(url.origin) })
  }
  if (profile.value === null) return null
  const stored = findProfile(from, profile.value, profile.origin)
  const shadows = shadowed(profile.origin)
  if (isLocal(stored)) return local(from, stored.database, profile.value, profile.origin, shadows)
  const used = { name: profile.value, stored, origin: profile.origin }
  return remote(from, stored.url, used, { profile: profile.value, origin: profile.origin, shadows })
}

/**
 * The database on a server that the settings name, with the place of its URL; null where they name another academy, or
 * none.
 */
export function chosenDatabaseUrl(from: TargetSources): { url: string; origin: Origin } | null {
  const { value, origin } = from.settings.database
  if (
    value === null ||
    !isDatabaseUrl(value) ||
    origin.source !== decisiveAmong(placesOf(from, chosenProfile(from)))
  )
    return null
  return { url: value, origin }
}

function placesOf({ settings: { url, database } }: TargetSources, profile: Settings['profile']) {
  return [url, database, profile].filter((place) => place.value !== null)
}

/** The most specific of the places that name an academy; `default` where there is none. */
function decisiveAmong(named: readonly { readonly origin: Origin }[]): Source {
  return named.reduce<Source>((best, { origin }) => moreSpecific(best, origin.source), 'default')
}

/** A database that others work with is changed by its server alone, which asks who they are and what they may do. */
export function requirePath(database: string, origin: Origin): void {
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

/** Throws a SettingError that calls it `name` unless it is an absolute http or https address. */
export function assertAddress(text: string, name: string): void {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return
  const guess = /^[\w.-]+(:\d+)?(\/\S*)?$/.test(text) ? { hint: `Add the scheme: https://${text}` } : {}
  const quoted = JSON.stringify(text)
  throw new SettingError(`${name} must be a URL such as https://academy.example.org, not ${quoted}`, guess)
}

function remoteOnly(profile: Profile): RemoteProfile | null {
  return isLocal(profile) ? null : profile
}

function local(
  { cwd }: TargetSources,
  database: string,
  profile: string | null,
  origin: Origin,
  shadows: Origin[],
) {
  requirePath(database, origin)
  return { kind: 'local', database: resolve(cwd, database), profile, origin, shadows } as const
}

function remote(from: TargetSources, url: string, used: UsedProfile | null, chosen: Chosen): RemoteTarget {
  const bound = used?.stored.credential
  const fits = bound?.origin === new URL(url).origin
  const candidates: Omit<Credential, 'shadows'>[] = environmentCredentials(from.env)
  if (used && bound && fits) {
    const origin: Origin = { source: used.origin.source, name: `profile ${used.name}` }
    // A profile asked for on this very command line is more specific than a variable set some time before.
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
    withheld: used && bound && !fits ? { profile: used.name, origin: bound.origin } : null,
  }
}

const credentialVariables = [
  { kind: 'api_key', name: 'LEARNCTL_API_KEY' },
  { kind: 'access_token', name: 'LEARNCTL_ACCESS_TOKEN' },
] as const

/** The variable that holds a credential and so keeps a stored one from being used; undefined where none does. */
export function overridingVariable(env: Environment): string | undefined {
  return credentialVariables.find(({ name }) => env[name])?.name
}

function environmentCredentials(env: Environment): Omit<Credential, 'shadows'>[] {
  const found = credentialVariables.flatMap(({ kind, name }) => {
    // A variable that is set from a file often ends with its line break.
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

function moreSpecific(one: Source, other: Source): Source {
  return sources.indexOf(one) <= sources.indexOf(other) ? one : other
}
