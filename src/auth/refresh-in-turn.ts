import type { ProfileStore } from '../config/profile-store.ts'
import { credentialOf, type Profiles, type StoredTokens, withCredential } from '../config/profiles.ts'
import { SignInError } from './errors.ts'

/** What renewing takes where several processes share a profile. */
export interface Turn {
  readonly profile: string
  readonly store: ProfileStore
  readonly refreshed: (tokens: StoredTokens & { readonly refreshToken: string }) => Promise<StoredTokens>
  /** Ends the wait for one's turn, and nothing later: tokens that a server gives out have to be kept. */
  readonly signal: AbortSignal
  /** Tells what went wrong beside the work. */
  readonly note: (text: string) => Promise<void>
}

/**
 * Tokens in place of `held` that serve: those that another process has stored meanwhile, else new ones, which are
 * stored. One process at a time asks, after it has looked again. Throws as `refreshed` does, and
 * ConfigErrors, before anything is asked for; a session that has ended is forgotten.
 */
export async function refreshInTurn(
  held: StoredTokens,
  serves: (stored: StoredTokens) => boolean,
  turn: Turn,
): Promise<StoredTokens> {
  const { profile, store, refreshed, signal } = turn
  return store.exclusively(
    profile,
    async () => {
      signal.throwIfAborted()
      const stored = tokensOf(store.read(), turn, held)
      if (stored === null) throw gone(turn, held)
      const { refreshToken } = stored
      if (serves(stored) || refreshToken === null) return stored
      // A rehearsal: a disk that is full has to show before the old refresh token is used up.
      await store.change((profiles) => profiles)
      try {
        const renewed = await refreshed({ ...stored, refreshToken })
        await keep(turn, stored, renewed)
        return renewed
      } catch (error) {
        if (!(error instanceof SignInError) || error.code !== 'signed_out') throw error
        // A lock can be lost, to a process that slept while it held one: then the session is somebody else's success.
        const now = tokensOf(store.read(), turn, held)
        if (now !== null && now.refreshToken !== refreshToken) return now
        // Where it cannot be forgotten, the next command will hear the same.
        await replace(turn, stored, undefined).catch(() => {})
        throw error
      }
    },
    signal,
  )
}

/** The tokens of the profile, as long as they are for the same place. */
function tokensOf(profiles: Profiles, { profile }: Turn, held: StoredTokens): StoredTokens | null {
  const credential = credentialOf(profiles, profile)
  return credential?.kind === 'oauth' && credential.origin === held.origin ? credential : null
}

function gone({ profile }: Turn, { issuer }: StoredTokens): SignInError {
  return new SignInError('signed_out', `profile ${profile} is not signed in to ${issuer} any more`)
}

async function keep(turn: Turn, before: StoredTokens, renewed: StoredTokens): Promise<void> {
  try {
    await replace(turn, before, renewed)
  } catch (error) {
    // The old refresh token is used up. This run has what it needs; the next one will find the session ended.
    const reason = error instanceof Error ? error.message : String(error)
    await turn.note(
      `the renewed session of profile ${turn.profile} could not be stored (${reason}): the next command may have to sign in again`,
    )
  }
}

/** Compares, and then replaces: what somebody else has stored meanwhile stays. */
async function replace(turn: Turn, before: StoredTokens, after: StoredTokens | undefined): Promise<void> {
  await turn.store.change((profiles) => {
    const stored = tokensOf(profiles, turn, before)
    return stored?.refreshToken === before.refreshToken
      ? withCredential(profiles, turn.profile, after)
      : profiles
  })
}
