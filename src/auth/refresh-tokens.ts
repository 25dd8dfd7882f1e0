import { allowInsecureRequests, customFetch, refreshTokenGrantRequest } from 'oauth4webapi'
import {
  credentialOf,
  type ProfileStore,
  type Profiles,
  type StoredTokens,
  withCredential,
} from '../config/profiles.ts'
import { SignInError } from './errors.ts'
import { clientAuthentication, type Fetch, type Refusal, refusalText, retryHintOf } from './oauth-exchange.ts'
import { requestGrant } from './token-response.ts'

export interface RefreshOptions extends RequestTools {
  readonly profile: string
  readonly store: ProfileStore
  /** Aborts only the wait for the lock: tokens that the server has issued must be stored. */
  readonly signal: AbortSignal
  readonly note: (text: string) => Promise<void>
  readonly signInCommand: string
}

/**
 * Returns usable tokens in place of `held`: those that another process has stored since, else new ones, which
 * it stores. A lock lets one process at a time do this. Throws ConfigErrors before it sends a request, then
 * as `requestRefresh` does. Removes a session that has ended.
 */
export async function refreshTokens(
  held: StoredTokens,
  isUsable: (stored: StoredTokens) => boolean,
  options: RefreshOptions,
): Promise<StoredTokens> {
  const { profile, store, signal } = options
  const work = async () => {
    signal.throwIfAborted()
    const stored = tokensOf(store.read(), options, held)
    if (stored === null) throw signedOutError(options, held)
    const { refreshToken } = stored
    if (isUsable(stored) || refreshToken === null) return stored
    // A trial write: a full disk must show before the refresh token is used up.
    await store.change((profiles) => profiles)
    return refreshStored({ ...stored, refreshToken }, options)
  }
  return store.withCredentialLock(profile, work, signal).catch((error: unknown) => {
    throw withSignInHint(error, options)
  })
}

/** The caller holds the lock. */
async function refreshStored(
  stored: StoredTokens & { readonly refreshToken: string },
  options: RefreshOptions,
): Promise<StoredTokens> {
  try {
    const refreshed = await requestRefresh(stored, options)
    await storeRefreshed(options, stored, refreshed)
    return refreshed
  } catch (error) {
    if (!(error instanceof SignInError) || error.code !== 'signed_out') throw error
    // A process that slept can lose its lock; another one may then have refreshed the session.
    const now = tokensOf(options.store.read(), options, stored)
    if (now !== null && now.refreshToken !== stored.refreshToken) return now
    // If it cannot be removed, the next command gets the same error.
    await replaceStored(options, stored, undefined).catch(() => {})
    throw error
  }
}

function withSignInHint(error: unknown, { signInCommand }: RefreshOptions): unknown {
  if (!(error instanceof SignInError) || error.code === 'server_unavailable') return error
  const { code, message, why, cause } = error
  return new SignInError(code, message, { why, cause, hint: `Sign in again: ${signInCommand}` })
}

/** Null for tokens of another origin. */
function tokensOf(profiles: Profiles, { profile }: RefreshOptions, held: StoredTokens): StoredTokens | null {
  const credential = credentialOf(profiles, profile)
  return credential?.kind === 'oauth' && credential.origin === held.origin ? credential : null
}

function signedOutError({ profile }: RefreshOptions, { issuer }: StoredTokens): SignInError {
  return new SignInError('signed_out', `Profile ${profile} is no longer signed in to ${issuer}`)
}

async function storeRefreshed(
  options: RefreshOptions,
  before: StoredTokens,
  refreshed: StoredTokens,
): Promise<void> {
  try {
    await replaceStored(options, before, refreshed)
  } catch (error) {
    // The old refresh token is used up: this run can continue, the next one will have to sign in.
    const reason = error instanceof Error ? error.message : String(error)
    await options.note(
      `The refreshed session of profile ${options.profile} cannot be stored (${reason}); you may have to sign in again`,
    )
  }
}

/** Keeps tokens that another process has stored since. */
async function replaceStored(
  options: RefreshOptions,
  before: StoredTokens,
  after: StoredTokens | undefined,
): Promise<void> {
  await options.store.change((profiles) => {
    const stored = tokensOf(profiles, options, before)
    return stored?.refreshToken === before.refreshToken
      ? withCredential(profiles, options.profile, after)
      : profiles
  })
}

interface RequestTools {
  readonly fetch: Fetch
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/**
 * Requests new tokens once, from the only endpoint that the refresh token may be sent to (RFC 6749 §6).
 * Throws SignInError: `signed_out` if the grant has ended, `token_refused` on any other OAuth error,
 * `server_unavailable` on 429 and 5xx, `answer_unusable` on an invalid response; and errors of `fetch`.
 */
export async function requestRefresh(
  tokens: StoredTokens & { readonly refreshToken: string },
  { fetch, now }: RequestTools,
): Promise<StoredTokens> {
  const { issuer, tokenEndpoint, clientId, clientSecret, secretPlace = 'header' } = tokens
  const authentication = clientAuthentication({ id: clientId, secret: clientSecret ?? null }, secretPlace)
  const { granted, refusal } = await requestGrant({ ...tokens, now }, tokens, async () => {
    const response = await refreshTokenGrantRequest(
      { issuer, token_endpoint: tokenEndpoint },
      { client_id: clientId },
      authentication,
      tokens.refreshToken,
      // `fetch` decides whether plain http is allowed.
      { [customFetch]: fetch, [allowInsecureRequests]: true },
    )
    assertAvailable(tokenEndpoint, response)
    return response
  })
  if (refusal !== null) throw refreshRefused(tokens, refusal)
  return { ...tokens, ...granted }
}

/** Throws on 429 and 5xx, in which case an error in the body says nothing about the grant. */
function assertAvailable(tokenEndpoint: string, { status, headers }: Response): void {
  if (status !== 429 && status < 500) return
  const { host, pathname } = new URL(tokenEndpoint)
  throw new SignInError('server_unavailable', `${host} cannot refresh the session now`, {
    why: [`POST ${pathname} returned ${status}`],
    hint: retryHintOf(headers),
  })
}

function refreshRefused({ issuer, tokenEndpoint }: StoredTokens, refusal: Refusal): SignInError {
  const { host } = new URL(tokenEndpoint)
  const why = [`${host} says: ${refusalText(refusal)}`]
  return refusal.error === 'invalid_grant'
    ? new SignInError('signed_out', `The session at ${issuer} has ended`, { why })
    : new SignInError('token_refused', `${host} refused to refresh the session`, { why })
}
