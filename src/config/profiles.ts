interface Stored {
  /** Scheme, host and port (RFC 6454), such as `https://academy.example.org`. */
  readonly origin: string
  /** ISO 8601, UTC. */
  readonly storedAt: string
}

/** An API key at rest. */
export interface StoredKey extends Stored {
  readonly kind: 'api_key'
  readonly value: string
}

/** What signing in by OAuth 2.0 led to, with all that refreshing and revoking it takes (RFC 6749 §5.1, RFC 7009). */
export interface StoredTokens extends Stored {
  readonly kind: 'oauth'
  readonly accessToken: string
  readonly refreshToken: string | null
  /** By the server's clock, ISO 8601 in UTC; null where the server did not say. */
  readonly expiresAt: string | null
  /** How long the access token lasts from its making; null where the server did not say. */
  readonly lifetimeSeconds: number | null
  /** The server's clock less this machine's, in milliseconds. */
  readonly skewMs: number
  /** What was granted, which may be less than was asked for. */
  readonly scopes: readonly string[]
  readonly issuer: string
  readonly clientId: string
  /** Of a confidential client (RFC 6749 §2.1). */
  readonly clientSecret?: string
  /** Where that is sent (RFC 6749 §2.3.1): in the header, unless told otherwise. */
  readonly secretPlace?: 'header' | 'form'
  readonly tokenEndpoint: string
  readonly revocationEndpoint: string | null
}

/** A credential at rest, bound to the one origin it may be sent to. */
export type StoredCredential = StoredKey | StoredTokens

/** A platform elsewhere. */
export interface RemoteProfile {
  readonly url: string
  readonly credential?: StoredCredential
}

/** An academy of one's own: a SQLite file, served in this process. */
export interface LocalProfile {
  readonly database: string
}

/** What a name stands for. */
export type Profile = RemoteProfile | LocalProfile

/** All profiles by name, and which of them is active. */
export interface Profiles {
  readonly active: string | null
  readonly profiles: Readonly<Record<string, Profile>>
}

/** The names a profile may have: letters, digits, `-` and `_`. */
export const profileName = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/

/** The profile that `quickstart` makes, whose academy `server start` serves by itself. */
export const localProfile = 'local'

/** True for a profile that is a database in this process. */
export function isLocal(profile: Profile): profile is LocalProfile {
  return 'database' in profile
}

/** The profile of that name; undefined where there is none. */
export function profileOf({ profiles }: Pick<Profiles, 'profiles'>, name: string): Profile | undefined {
  return Object.hasOwn(profiles, name) ? profiles[name] : undefined
}

/** The credential of a profile; undefined where there is no such profile, or it holds none. */
export function credentialOf(stored: Profiles, name: string): StoredCredential | undefined {
  const profile = profileOf(stored, name)
  return profile && !isLocal(profile) ? profile.credential : undefined
}

/** The profiles with another credential in one of them, or none; a profile that is not there stays away. */
export function withCredential(
  { active, profiles }: Profiles,
  name: string,
  credential: StoredCredential | undefined,
): Profiles {
  const profile = profileOf({ profiles }, name)
  if (!profile || isLocal(profile)) return { active, profiles }
  const changed: RemoteProfile = { url: profile.url, ...(credential && { credential }) }
  return { active, profiles: { ...profiles, [name]: changed } }
}

/** What of a stored credential is sent as the bearer. */
export function bearerOf(stored: StoredCredential): { kind: 'api_key' | 'access_token'; value: string } {
  return stored.kind === 'oauth'
    ? { kind: 'access_token', value: stored.accessToken }
    : { kind: 'api_key', value: stored.value }
}
