import type { StoredPlatform, StoredTokens } from './profiles.ts'
import type { Origin } from './resolve-settings.ts'

/** A bearer token (RFC 6750), its origin, and the origins that it overrides. */
export interface Credential {
  readonly kind: 'api_key' | 'access_token'
  readonly value: string
  readonly origin: Origin
  readonly shadows: readonly Origin[]
  /** Has tokens if it is an access token; absent for a credential from a variable. */
  readonly kept?: { readonly profile: string; readonly tokens: StoredTokens | null }
}

export interface Chosen {
  /** The profile in use; null if a flag or variable names the platform itself. */
  readonly profile: string | null
  readonly origin: Origin
  readonly shadows: readonly Origin[]
}

export interface LocalTarget extends Chosen {
  readonly kind: 'local'
  readonly database: string
}

export interface RemoteTarget extends Chosen {
  readonly kind: 'remote'
  /** An http or https URL, as it was given. */
  readonly url: string
  readonly credential: Credential | null
  readonly platform: StoredPlatform | null
  /** Set if the stored credential of a profile was not used because it is for another origin. */
  readonly withheld: { readonly profile: string; readonly origin: string } | null
}

export type Target = LocalTarget | RemoteTarget

export function platformName(target: Target): string {
  return target.kind === 'remote' ? new URL(target.url).host : target.database
}

/**
 * True for a platform whose fields and choices may differ from those of this program: any but an academy in this process.
 * Whether it is a server of this API shows in its first reply.
 */
export function mayDiffer({ kind }: Target): boolean {
  return kind === 'remote'
}
