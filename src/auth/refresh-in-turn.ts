import type { ProfileStore } from '../config/profile-store.ts'
import { credentialOf, type Profiles, type StoredTokens, withCredential } from '../config/profiles.ts'
import { SignInError } from './errors.ts'
import { type RefreshContext, requestRefresh } from './refresh-request.ts'

/** What a refresh takes where several processes share a profile. */
export interface RefreshTurn extends RefreshContext {
  readonly profile: string
  readonly store: ProfileStore
  /** Ends the wait for one's turn, and nothing later: tokens that a server gives out have to be kept. */
  readonly signal: AbortSignal
  /** Tells what went wrong beside the work. */
  readonly note: (text: string) => Promise<void>
  /** The command that begins another session, for the hint where this one cannot be refreshed. */
  readonly signInCommand: string
}

/**
 * Tokens in place of `held` that serve: those that another process has stored meanwhile, else new ones, which are
 * stored. One process at a time asks, after it has looked again. Throws as `requestRefresh` does, and
 * ConfigErrors, before anything is asked for; a session that has ended is forgotten.
 */
export async function refreshInTurn(
  held: StoredTokens,
  serves: (stored: StoredTokens) => boolean,
  turn: RefreshTurn,
): Promise<StoredTokens> {
  const { profile, store, signal } = turn
  const work = async () => {
    signal.throwIfAborted()
    const stored = tokensOf(store.read(), turn, held)
    if (stored === null) throw signedOut(turn, held)
    const { refreshToken } = stored
    if (serves(stored) || refreshToken === null) return stored
    // A rehearsal: a disk that is full has to show before the old refresh token is used up.
    await store.change((profiles) => profiles)
    return refreshStored({ ...stored, refreshToken }, turn)
  }
  return store.exclusively(profile, work, signal).catch((error: unknown) => {
    throw withSignInHint(error, turn)
  })
}

/** Asks, and stores what comes of it, while no other process may. */
async function refreshStored(
  stored: StoredTokens & { readonly refreshToken: string },
  turn: RefreshTurn,
): Promise<StoredTokens> {
  try {
    const refreshed = await requestRefresh(stored, turn)
    await keep(turn, stored, refreshed)
    return refreshed
  } catch (error) {
    if (!(error instanceof SignInError) || error.code !== 'signed_out') throw error
    // A lock can be lost, to a process that slept while it held one: then the session is somebody else's success.
    const now = tokensOf(turn.store.read(), turn, stored)
    if (now !== null && now.refreshToken !== stored.refreshToken) return now
    // Where it cannot be forgotten, the next command will hear the same.
    await replace(turn, stored, undefined).catch(() => {})
    throw error
  }
}

/** Where only another session helps, the hint is how to begin one. */
function withSignInHint(error: unknown, { signInCommand }: RefreshTurn): unknown {
  if (!(error instanceof SignInError) || error.code === 'server_unavailable') return error
  const { code, message, why, cause } = error
  return new SignInError(code, message, { why, cause, hint: `Sign in again: ${signInCommand}` })
}

/** The tokens of the profile, as long as they are for the same place. */
function tokensOf(profiles: Profiles, { profile }: RefreshTurn, held: StoredTokens): StoredTokens | null {
  const credential = credentialOf(profiles, profile)
  return credential?.kind === 'oauth' && credential.origin === held.origin ? credential : null
}

function signedOut({ profile }: RefreshTurn, { issuer }: StoredTokens): SignInError {
  return new SignInError('signed_out', `Profile ${profile} is no longer signed in to ${issuer}`)
}

async function keep(turn: RefreshTurn, before: StoredTokens, refreshed: StoredTokens): Promise<void> {
  try {
    await replace(turn, before, refreshed)
  } catch (error) {
    // The old refresh token is used up. This run has what it needs; the next one will find the session ended.
    const reason = error instanceof Error ? error.message : String(error)
    await turn.note(
      `The refreshed session of profile ${turn.profile} cannot be stored (${reason}); you may have to sign in again`,
    )
  }
}

/** Compares, and then replaces: what somebody else has stored meanwhile stays. */
async function replace(
  turn: RefreshTurn,
  before: StoredTokens,
  after: StoredTokens | undefined,
): Promise<void> {
  await turn.store.change((profiles) => {
    const stored = tokensOf(profiles, turn, before)
    return stored?.refreshToken === before.refreshToken
      ? withCredential(profiles, turn.profile, after)
      : profiles
  })
}
