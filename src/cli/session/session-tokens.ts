import { SignInError } from '../../auth/errors.ts'
import type { Fetch } from '../../auth/oauth-exchange.ts'
import { profileTokenSource, type TokenSource } from '../../auth/token-source.ts'
import { assertConfidential } from '../../client/base-url.ts'
import { ConnectionError, TimeoutError } from '../../client/errors.ts'
import type { ProfileStore } from '../../config/profile-store.ts'
import type { StoredTokens } from '../../config/profiles.ts'
import type { Settings } from '../../config/resolve-settings.ts'
import type { Target } from '../../config/target.ts'
import type { Transport } from '../../contract/http.ts'
import { type Io, note } from '../terminal/io.ts'
import { signInCommand } from './sign-in-command.ts'

/**
 * Timeout of a refresh, independent of `--timeout`: other processes wait for it, and a late response is lost.
 */
const timeoutMs = 10_000

interface SessionTokensOptions {
  readonly io: Io
  readonly settings: Settings
  readonly store: ProfileStore
  readonly transport: Transport
  readonly profile: string
  readonly tokens: StoredTokens
  readonly target: Target
  readonly onRefreshed: (tokens: StoredTokens) => void
}

/** Creates the token source of a profile, which refreshes over the transport of this run. */
export function sessionTokens(options: SessionTokensOptions): TokenSource {
  const { io, store, profile, tokens, target, onRefreshed } = options
  return profileTokenSource({
    profile,
    store,
    tokens,
    onRefreshed,
    now: io.now,
    signal: io.signal,
    note: (text) => note(io, text),
    signInCommand: signInCommand(target, { whole: true }),
    fetch: refreshFetch(options),
  })
}

/**
 * Returns a fetch that reports every network error as an unavailable server: the request that needs the token
 * was not sent, so nothing is unknown about its effect.
 */
function refreshFetch({ io, settings, transport, profile }: SessionTokensOptions): Fetch {
  return async (url, request) => {
    if (!settings.insecureHttp.value) assertConfidential(url)
    const { logExchanges, createWebFetch } = await import('./web-fetch.ts')
    const plain = createWebFetch(transport, timeoutMs)
    const fetch = settings.debug.value ? logExchanges(plain, io) : plain
    try {
      return await fetch(url, request).catch((error: unknown) => {
        // The response was lost, so the refresh token may be used up; an academy accepts it once more for a
        // moment.
        if (error instanceof ConnectionError && ['reset', 'cut_short'].includes(error.code)) {
          return fetch(url, request)
        }
        throw error
      })
    } catch (error) {
      if (!(error instanceof ConnectionError || error instanceof TimeoutError)) throw error
      const why = [`Cannot refresh the session of profile ${profile}`]
      throw new SignInError('server_unavailable', error.message, { cause: error, why })
    }
  }
}
