import { SignInError } from '../../auth/errors.ts'
import type { Fetch } from '../../auth/fetch.ts'
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

/** Whatever is waited for an answer of the API: here other processes wait, and what comes too late is lost. */
const timeoutMs = 10_000

/** Whose tokens they are, and what of this run a refresh takes. */
export interface SessionTokensOptions {
  readonly io: Io
  readonly settings: Settings
  readonly store: ProfileStore
  readonly transport: Transport
  readonly profile: string
  readonly tokens: StoredTokens
  readonly target: Target
  readonly onRefreshed: (tokens: StoredTokens) => void
}

/** The access token of a profile, refreshed over the transport of this run. */
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
 * A network that fails is a server that cannot answer now, whatever it did: the request that the token is for was not
 * sent yet, and nothing may be guessed of its effect.
 */
function refreshFetch({ io, settings, transport, profile }: SessionTokensOptions): Fetch {
  return async (url, request) => {
    if (!settings.insecureHttp.value) assertConfidential(url)
    const { watched, webFetch } = await import('./web-fetch.ts')
    const plain = webFetch(transport, timeoutMs)
    const fetch = settings.debug.value ? watched(plain, io) : plain
    try {
      return await fetch(url, request).catch((error: unknown) => {
        // Where the answer was lost, the old refresh token may be used up: an academy takes it once more, at once.
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
