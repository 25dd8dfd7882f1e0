import { ConfigError } from '../config/errors.ts'
import { isFresh, remainingMs, type StoredTokens } from '../config/profiles.ts'
import { SignInError } from './errors.ts'
import type { RefreshOptions } from './refresh-tokens.ts'

export interface TokenSource {
  /** Throws as `refresh` does if no token can be valid. */
  current(): Promise<string>
  /** Null if there is no other token. Throws as `refresh` does. */
  after(refused: string): Promise<string | null>
  settled(): Promise<void>
}

interface TokenSourceOptions {
  readonly tokens: StoredTokens
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Replaces `held` as `refreshTokens` does. */
  readonly refresh: (held: StoredTokens, isUsable: (stored: StoredTokens) => boolean) => Promise<StoredTokens>
  readonly onRefreshed: (tokens: StoredTokens) => void
}

/**
 * Creates a token source for a profile that several processes may share. Loads the refreshing code only when
 * needed: most runs do not.
 */
export function profileTokenSource(
  turn: RefreshOptions & Pick<TokenSourceOptions, 'tokens' | 'onRefreshed'>,
): TokenSource {
  return createTokenSource({
    ...turn,
    refresh: async (held, isUsable) =>
      (await import('./refresh-tokens.ts')).refreshTokens(held, isUsable, turn),
  })
}

/** Refreshes before the token expires, once at a time. */
export function createTokenSource({ tokens, now, refresh, onRefreshed }: TokenSourceOptions): TokenSource {
  let held = tokens
  let refreshing: Promise<void> | null = null
  let postponed = false

  function refreshOnce(isUsable: (stored: StoredTokens) => boolean): Promise<void> {
    refreshing ??= refresh(held, isUsable)
      .then((refreshed) => {
        held = refreshed
        postponed = false
        onRefreshed(refreshed)
      })
      .finally(() => {
        refreshing = null
      })
    return refreshing
  }

  async function current(): Promise<string> {
    if (isFresh(held, now()) || held.refreshToken === null) return held.accessToken
    const lasts = () => remainingMs(held, now()) > 0
    // After a failed refresh, use the token until it expires instead of retrying at every request.
    if (postponed && lasts()) return held.accessToken
    try {
      await refreshOnce((stored) => isFresh(stored, now()))
    } catch (error) {
      if (!isTransient(error) || !lasts()) throw error
      postponed = true
    }
    return held.accessToken
  }

  async function after(refused: string): Promise<string | null> {
    await refreshing
    if (held.accessToken === refused && held.refreshToken !== null) {
      await refreshOnce(({ accessToken }) => accessToken !== refused)
    }
    return held.accessToken === refused ? null : held.accessToken
  }

  return {
    current,
    after,
    settled: async () => {
      await refreshing?.catch(() => {})
    },
  }
}

/** True for an unavailable server or an unwritable file. */
function isTransient(error: unknown): boolean {
  if (error instanceof SignInError) return ['server_unavailable', 'answer_unusable'].includes(error.code)
  return error instanceof ConfigError
}
