import type { StoredTokens } from '../config/profiles.ts'

const maxThresholdMs = 60_000
const maxLifetimeSeconds = 10 * 365 * 86_400

/** The fields used of a token response (RFC 6749 §5.1), validated by oauth4webapi. */
export interface TokenResponse {
  readonly access_token: string
  readonly refresh_token?: string | undefined
  readonly expires_in?: number | undefined
  readonly scope?: string | undefined
}

/** The fields of stored tokens that each token response renews. */
export type GrantedTokens = Pick<
  StoredTokens,
  'accessToken' | 'refreshToken' | 'expiresAt' | 'lifetimeSeconds' | 'scopes' | 'storedAt'
>

/**
 * Returns the granted tokens. Their lifetime starts when the request was sent. Fields that the response omits are those
 * of `before` (RFC 6749 §5.1 "scope", §6 "refresh_token").
 */
export function grantedTokensOf(
  response: TokenResponse,
  sentMs: number,
  before: Pick<StoredTokens, 'refreshToken' | 'scopes'>,
): GrantedTokens {
  const { expires_in: given } = response
  const lifetimeSeconds = given === undefined ? null : Math.min(given, maxLifetimeSeconds)
  const scopes = response.scope?.split(' ').filter((scope) => scope !== '') ?? []
  return {
    accessToken: response.access_token,
    refreshToken: response.refresh_token ?? before.refreshToken,
    expiresAt: lifetimeSeconds === null ? null : new Date(sentMs + lifetimeSeconds * 1000).toISOString(),
    lifetimeSeconds,
    scopes: scopes.length > 0 ? scopes : before.scopes,
    storedAt: new Date(sentMs).toISOString(),
  }
}

/** Returns the remaining lifetime of an access token in milliseconds; Infinity if the server did not say. */
export function remainingMs({ expiresAt }: StoredTokens, nowMs: number): number {
  const endMs = Date.parse(expiresAt ?? '')
  return Number.isNaN(endMs) ? Number.POSITIVE_INFINITY : endMs - nowMs
}

/** True until one minute, or a tenth of its lifetime, before the access token expires. */
export function isFresh(tokens: StoredTokens, nowMs: number): boolean {
  const { lifetimeSeconds } = tokens
  const tenthMs = lifetimeSeconds === null ? maxThresholdMs : lifetimeSeconds * 100
  return remainingMs(tokens, nowMs) >= Math.min(maxThresholdMs, tenthMs)
}
