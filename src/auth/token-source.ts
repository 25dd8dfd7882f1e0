import { ConfigError } from '../config/errors.ts'
import type { StoredTokens } from '../config/profiles.ts'
import { SignInError } from './errors.ts'
import type { RefreshTurn } from './refresh-in-turn.ts'
import { isFresh, remainingMs } from './tokens.ts'

/** The access token of one run, refreshed when that is due. */
export interface TokenSource {
  /** The token to send now. Throws as `refresh` does where there is none that could be valid. */
  current(): Promise<string>
  /** Another token than one that was refused; null where there is none. Throws as `refresh` does. */
  after(refused: string): Promise<string | null>
  /** Resolves when no refresh is under way. */
  settled(): Promise<void>
}

/** What a token source is made of. */
export interface TokenSourceOptions {
  readonly tokens: StoredTokens
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Tokens that serve in place of those held, as `refreshInTurn` finds them. */
  readonly refresh: (held: StoredTokens, serves: (stored: StoredTokens) => boolean) => Promise<StoredTokens>
  /** Is told of every refresh. */
  readonly onRefreshed: (tokens: StoredTokens) => void
}

/**
 * The access token of a profile that several processes may share. What refreshes and stores it is loaded when that is
 * due: most runs need none of it.
 */
export function profileTokenSource(
  turn: RefreshTurn & Pick<TokenSourceOptions, 'tokens' | 'onRefreshed'>,
): TokenSource {
  return createTokenSource({
    ...turn,
    refresh: async (held, serves) => (await import('./refresh-in-turn.ts')).refreshInTurn(held, serves, turn),
  })
}

/** A token source that refreshes ahead of the end, and once at a time. */
export function createTokenSource({ tokens, now, refresh, onRefreshed }: TokenSourceOptions): TokenSource {
  let held = tokens
  let flight: Promise<void> | null = null
  let postponed = false

  function refreshOnce(serves: (stored: StoredTokens) => boolean): Promise<void> {
    flight ??= refresh(held, serves)
      .then((refreshed) => {
        held = refreshed
        postponed = false
        onRefreshed(refreshed)
      })
      .finally(() => {
        flight = null
      })
    return flight
  }

  async function current(): Promise<string> {
    if (isFresh(held, now()) || held.refreshToken === null) return held.accessToken
    const lasts = () => remainingMs(held, now()) > 0
    // One that lasts a little longer is used up in peace, instead of asking in vain at every request.
    if (postponed && lasts()) return held.accessToken
    try {
      await refreshOnce((stored) => isFresh(stored, now()))
    } catch (error) {
      if (!isPassing(error) || !lasts()) throw error
      postponed = true
    }
    return held.accessToken
  }

  async function after(refused: string): Promise<string | null> {
    await flight
    if (held.accessToken === refused && held.refreshToken !== null) {
      await refreshOnce(({ accessToken }) => accessToken !== refused)
    }
    return held.accessToken === refused ? null : held.accessToken
  }

  return {
    current,
    after,
    settled: async () => {
      await flight?.catch(() => {})
    },
  }
}

/** True for what another attempt may not meet again: a server that cannot answer, files that cannot be written. */
function isPassing(error: unknown): boolean {
  if (error instanceof SignInError) return ['server_unavailable', 'answer_unusable'].includes(error.code)
  return error instanceof ConfigError
}
