interface Stored {
  /** Scheme, host and port (RFC 6454), such as `https://academy.example.org`. */
  readonly origin: string
  /** ISO 8601, UTC. */
  readonly storedAt: string
}

interface StoredKey extends Stored {
  readonly kind: 'api_key'
  readonly value: string
}

/**
 * Stored tokens of an OAuth 2.0 sign-in, with everything needed to refresh and revoke them (RFC 6749 §5.1,
 * RFC 7009).
 */
export interface StoredTokens extends Stored {
  readonly kind: 'oauth'
  readonly accessToken: string
  readonly refreshToken: string | null
  /** ISO 8601 in UTC; null if the server did not say. */
  readonly expiresAt: string | null
  /** Lifetime of an access token; null if the server did not say. */
  readonly lifetimeSeconds: number | null
  /** Granted scopes, which may be fewer than requested. */
  readonly scopes: readonly string[]
  readonly issuer: string
  readonly clientId: string
  /** Set for a confidential client (RFC 6749 §2.1). */
  readonly clientSecret?: string
  /** Where the client secret is sent (RFC 6749 §2.3.1); default header. */
  readonly secretPlace?: 'header' | 'form'
  readonly tokenEndpoint: string
  readonly revocationEndpoint: string | null
}

/** A stored credential, bound to the one origin that it may be sent to. */
export type StoredCredential = StoredKey | StoredTokens

/** The platform file as it was when it was added. */
export interface StoredPlatform {
  readonly name: string
  /** SHA-256 of its text, in hexadecimal digits. */
  readonly digest: string
  /** Its value, which was validated. */
  readonly file: unknown
}

export interface RemoteProfile {
  readonly url: string
  readonly credential?: StoredCredential
  readonly platform?: StoredPlatform
}

/** A SQLite file, served in this process. */
interface LocalProfile {
  readonly database: string
}

export type Profile = RemoteProfile | LocalProfile

export interface Profiles {
  readonly active: string | null
  readonly profiles: Readonly<Record<string, Profile>>
}

export const profileName = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/

/** Profile that `quickstart` creates and `server start` serves by default. */
export const localProfile = 'local'

export function isLocal(profile: Profile): profile is LocalProfile {
  return 'database' in profile
}

export function profileOf({ profiles }: Pick<Profiles, 'profiles'>, name: string): Profile | undefined {
  return Object.hasOwn(profiles, name) ? profiles[name] : undefined
}

export function credentialOf(stored: Profiles, name: string): StoredCredential | undefined {
  const profile = profileOf(stored, name)
  return profile && !isLocal(profile) ? profile.credential : undefined
}

/** Returns the profiles with another credential in one of them, or none. A missing profile is not created. */
export function withCredential(
  { active, profiles }: Profiles,
  name: string,
  credential: StoredCredential | undefined,
): Profiles {
  const profile = profileOf({ profiles }, name)
  if (!profile || isLocal(profile)) return { active, profiles }
  const { credential: _, ...others } = profile
  const changed: RemoteProfile = { ...others, ...(credential && { credential }) }
  return { active, profiles: { ...profiles, [name]: changed } }
}

export function bearerOf(stored: StoredCredential): { kind: 'api_key' | 'access_token'; value: string } {
  return stored.kind === 'oauth'
    ? { kind: 'access_token', value: stored.accessToken }
    : { kind: 'api_key', value: stored.value }
}
