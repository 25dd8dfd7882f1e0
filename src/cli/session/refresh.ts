import { SignInError } from '../../auth/errors.ts'
import type { Fetch } from '../../auth/fetch.ts'
import { refreshed } from '../../auth/refresh.ts'
import { refreshInTurn } from '../../auth/refresh-in-turn.ts'
import { assertConfidential } from '../../client/base-url.ts'
import { ConnectionError, TimeoutError } from '../../client/errors.ts'
import type { ProfileStore } from '../../config/profile-store.ts'
import type { StoredTokens } from '../../config/profiles.ts'
import type { Target } from '../../config/target.ts'
import { type Io, say } from '../terminal/io.ts'
import { visible } from '../terminal/visible.ts'
import { signInCommand } from './sign-in-command.ts'
import { watched } from './web-fetch.ts'

/** What renewing the tokens of a profile takes. */
export interface Renewal {
  readonly io: Io
  readonly profile: string
  readonly store: ProfileStore
  readonly fetch: Fetch
  readonly insecureHttp: boolean
  readonly debug: boolean
  /** Whose session that is. */
  readonly target: Target
}

/**
 * Tokens in place of `held` that serve (auth/refresh-in-turn.ts). A network that fails is a server that cannot answer
 * now, whatever it did: the request that the token is for was not sent yet, and nothing may be guessed of its effect.
 */
export async function renewed(
  held: StoredTokens,
  serves: (stored: StoredTokens) => boolean,
  renewal: Renewal,
): Promise<StoredTokens> {
  const { io, profile, store, insecureHttp, debug, target } = renewal
  const fetch = debug ? watched(renewal.fetch, io) : renewal.fetch
  try {
    return await refreshInTurn(held, serves, {
      profile,
      store,
      signal: io.signal,
      note: (text) => say(io, `note: ${visible(text)}\n`),
      refreshed: (tokens) => {
        if (!insecureHttp) assertConfidential(tokens.tokenEndpoint)
        return refreshed(tokens, { fetch, now: io.now })
      },
    })
  } catch (error) {
    if (error instanceof ConnectionError || error instanceof TimeoutError) {
      const why = [`the session of profile ${profile} could not be renewed`]
      throw new SignInError('server_unavailable', error.message, { cause: error, why })
    }
    if (!(error instanceof SignInError) || !/^(signed_out|token_refused|answer_unusable)$/.test(error.code))
      throw error
    const { code, message, why } = error
    throw new SignInError(code, message, {
      why,
      hint: `sign in again: ${signInCommand(target, { whole: true })}`,
    })
  }
}
