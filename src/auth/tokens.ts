import type { StoredTokens } from '../config/profiles.ts'

const longestThresholdMs = 60_000
const longestLifetimeSeconds = 10 * 365 * 86_400

/** What of a token response is kept (RFC 6749 §5.1), as oauth4webapi gives it once it has checked it. */
export interface TokenResponse {
  readonly access_token: string
  readonly refresh_token?: string | undefined
  readonly expires_in?: number | undefined
  readonly scope?: string | undefined
}

/** When a token response was asked for, in milliseconds by this machine's clock, and the `Date` it came with. */
export interface TokenTiming {
  readonly sentMs: number
  readonly receivedMs: number
  readonly date: string | null
}

/** The part of tokens at rest that each token response brings anew. */
export type GrantedTokens = Pick<
  StoredTokens,
  'accessToken' | 'refreshToken' | 'expiresAt' | 'lifetimeSeconds' | 'skewMs' | 'scopes' | 'storedAt'
>

/**
 * What was granted: its lifetime counted from the asking, by the server's clock. What a response leaves out is as it
 * was asked for: `before` (RFC 6749 §5.1 "scope", §6 "refresh_token").
 */
export function grantedBy(
  response: TokenResponse,
  { sentMs, receivedMs, date }: TokenTiming,
  before: Pick<StoredTokens, 'refreshToken' | 'scopes'>,
): GrantedTokens {
  const skewMs = skewOf(date, sentMs, receivedMs)
  const { expires_in: given } = response
  const lifetimeSeconds = given === undefined ? null : Math.min(given, longestLifetimeSeconds)
  const scopes = response.scope?.split(' ').filter((scope) => scope !== '') ?? []
  return {
    accessToken: response.access_token,
    refreshToken: response.refresh_token ?? before.refreshToken,
    expiresAt:
      lifetimeSeconds === null ? null : new Date(sentMs + skewMs + lifetimeSeconds * 1000).toISOString(),
    lifetimeSeconds,
    skewMs,
    scopes: scopes.length > 0 ? scopes : before.scopes,
    storedAt: new Date(receivedMs).toISOString(),
  }
}

/** The server's clock less this machine's, in milliseconds; 0 where its `Date` says nothing. */
export function skewOf(date: string | null, sentMs: number, receivedMs: number): number {
  const serverMs = Date.parse(date ?? '')
  // A Date is cut to the second: half of one is what it is off on average.
  return Number.isNaN(serverMs) ? 0 : Math.round(serverMs + 500 - (sentMs + receivedMs) / 2)
}

/** How long an access token is still good for, in milliseconds; Infinity where the server did not say. */
export function remainingMs({ expiresAt, skewMs }: StoredTokens, nowMs: number): number {
  const endMs = Date.parse(expiresAt ?? '')
  return Number.isNaN(endMs) ? Number.POSITIVE_INFINITY : endMs - skewMs - nowMs
}

/** True while an access token need not be refreshed yet: until a minute, or a tenth of its lifetime, before its end. */
export function isFresh(tokens: StoredTokens, nowMs: number): boolean {
  const { lifetimeSeconds } = tokens
  const tenthMs = lifetimeSeconds === null ? longestThresholdMs : lifetimeSeconds * 100
  return remainingMs(tokens, nowMs) >= Math.min(longestThresholdMs, tenthMs)
}
