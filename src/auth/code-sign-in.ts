import {
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  calculatePKCECodeChallenge,
  customFetch,
  generateRandomCodeVerifier,
  generateRandomState,
  skipStateCheck,
  validateAuthResponse,
} from 'oauth4webapi'
import type { StoredTokens } from '../config/profiles.ts'
import { ownClientId } from '../contract/oauth.ts'
import { type AuthorizationServer, metadataOf } from './authorization-server.ts'
import { failurePage, successPage } from './callback-page.ts'
import { type ClientIdentity, clientAuthentication, inEachPlace } from './client-identity.ts'
import { SignInError } from './errors.ts'
import type { Fetch } from './fetch.ts'
import { type Loopback, openLoopback } from './loopback.ts'
import { readPasted } from './pasted.ts'
import { refusedBy } from './refused.ts'
import { requestTokens, type TokenPurpose } from './token-response.ts'

/** How long somebody may take to sign in with a browser. */
export const patienceMinutes = 5

/** What has become of the tokens: at least, the account that they stand for, if that is known. */
export interface Kept {
  readonly account: string | null
}

/** What signing in takes, whichever way. */
export interface SignIn<Result extends Kept> extends TokenPurpose {
  readonly fetch: Fetch
  readonly signal: AbortSignal
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /** Keeps the tokens, once it has seen that they work. */
  readonly keep: (tokens: StoredTokens) => Promise<Result>
}

/** Signing in with a browser that comes back to this machine. */
export interface CodeSignIn<Result extends Kept = Kept> extends SignIn<Result> {
  /** The redirect URI that the client is registered with; null for any port of this program's own client. */
  readonly redirectUri: string | null
  /** Shows the person the address to open. */
  readonly show: (url: string) => Promise<void>
  /** Asks for the address that the browser was sent to until `check` has nothing against it; null where nobody can be asked. */
  readonly paste: ((check: (text: string) => string | true, signal: AbortSignal) => Promise<void>) | null
}

/** What an authorization request is made of. */
export interface AuthorizationRequest {
  readonly endpoint: string
  readonly clientId: string
  readonly redirectUri: string
  readonly scopes: readonly string[]
  readonly state: string
  readonly challenge: string
}

/** The address that asks for an authorization code (RFC 6749 §4.1.1, RFC 7636 §4.3). */
export function authorizationUrl(request: AuthorizationRequest): string {
  const url = new URL(request.endpoint)
  const parameters = {
    response_type: 'code',
    client_id: request.clientId,
    redirect_uri: request.redirectUri,
    scope: request.scopes.join(' '),
    state: request.state,
    code_challenge: request.challenge,
    code_challenge_method: 'S256',
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}

/**
 * Signs in with an authorization code (RFC 6749 §4.1) that a browser brings to a listener on this machine, or that
 * somebody pastes. The browser is told how it ended, and only then. Throws a SignInError, or the reason of the signal.
 */
export async function signInByCode<Result extends Kept>(signIn: CodeSignIn<Result>): Promise<Result> {
  const { server, client, redirectUri, scopes, signal } = signIn
  if (server.authorizationEndpoint === null) throw notOffered(server)
  signal.throwIfAborted()
  const state = generateRandomState()
  const verifier = generateRandomCodeVerifier()
  const loopback = await openLoopback(state, redirectUri)
  let page = failurePage('An error occurred')
  try {
    const url = authorizationUrl({
      endpoint: server.authorizationEndpoint,
      clientId: client.id,
      redirectUri: loopback.redirectUri,
      scopes,
      state,
      challenge: await calculatePKCECodeChallenge(verifier),
    })
    await signIn.show(url)
    const parameters = await firstResponse(signIn, loopback, state)
    const tokens = await exchange(signIn, parameters, loopback.redirectUri, verifier)
    const kept = await signIn.keep(tokens)
    page = successPage(new URL(signIn.origin).host, kept.account)
    return kept
  } catch (error) {
    if (error instanceof SignInError) page = failurePage(error.message)
    throw error
  } finally {
    await loopback.close(page)
  }
}

function notOffered({ issuer }: AuthorizationServer): SignInError {
  return new SignInError('flow_not_offered', `${issuer} does not support signing in with a browser`, {
    hint: 'Use: learnctl auth login --device, or --with-key',
  })
}

/** What comes first: the redirect, somebody's paste, the end of patience, or the end of the program. */
async function firstResponse(
  signIn: CodeSignIn,
  loopback: Loopback,
  state: string,
): Promise<URLSearchParams> {
  const over = new AbortController()
  const signal = AbortSignal.any([signIn.signal, over.signal])
  const interrupted = new Promise<never>((_, reject) => {
    signIn.signal.addEventListener('abort', () => reject(signIn.signal.reason), { once: true })
    if (signIn.signal.aborted) reject(signIn.signal.reason)
  })
  const late = signIn.sleep(patienceMinutes * 60_000, signal).then(() => {
    throw timedOut(signIn)
  })
  const question = signIn.paste === null ? null : pasted(signIn.paste, state, signal)
  const answer = question?.then((given) => given ?? new Promise<never>(() => {}))
  try {
    return await Promise.race([loopback.redirected, interrupted, late, ...(answer ? [answer] : [])])
  } finally {
    over.abort()
    // The question has to be off the screen before anything else is said.
    await question?.catch(() => {})
  }
}

/** What was pasted; null where the question was taken back, because something else came first. */
async function pasted(
  paste: NonNullable<CodeSignIn['paste']>,
  state: string,
  signal: AbortSignal,
): Promise<URLSearchParams | null> {
  let accepted: URLSearchParams | null = null
  await paste((text) => {
    const read = readPasted(text, state)
    if (typeof read === 'string') return read
    accepted = read
    return true
  }, signal)
  return accepted
}

function timedOut({ server, client }: CodeSignIn): SignInError {
  const unknown = !server.published && client.id === ownClientId
  return new SignInError('sign_in_timed_out', `Sign-in timed out after ${patienceMinutes} minutes`, {
    hint: unknown
      ? 'If learnctl is not registered there, use your own application: --client-id <id> --redirect-uri <uri>'
      : 'Try again: learnctl auth login',
  })
}

async function exchange(
  signIn: CodeSignIn,
  redirected: URLSearchParams,
  redirectUri: string,
  verifier: string,
): Promise<StoredTokens> {
  const { server, client, fetch, signal } = signIn
  const answer = accepted(server, client, redirected)
  const placed = await inEachPlace(client, server.secretPlaces, (place) =>
    requestTokens(signIn, place, () =>
      authorizationCodeGrantRequest(
        metadataOf(server),
        { client_id: client.id },
        clientAuthentication(client, place),
        answer,
        redirectUri,
        verifier,
        // Each endpoint was looked at when it was discovered.
        { [customFetch]: fetch, [allowInsecureRequests]: true, signal },
      ),
    ),
  )
  const { tokens, refusal } = placed.answer
  if (refusal === null) return tokens
  // A server that drops a code whoever shows it has told with the second attempt where it takes the secret.
  const usedUp = refusal.error === 'invalid_grant' && placed.place !== server.secretPlaces[0]
  const hint = usedUp ? 'Try again with the secret in the form: --client-auth post' : undefined
  throw refusedBy(new URL(server.tokenEndpoint).host, client, refusal, hint)
}

/** The redirect, once it is known to come from this very server and to bring a code (RFC 9207 §2.4). */
function accepted(
  server: AuthorizationServer,
  client: ClientIdentity,
  redirected: URLSearchParams,
): URLSearchParams {
  const issuer = redirected.get('iss')
  if (issuer === null ? server.namesItself : issuer !== server.issuer) throw wrongIssuer(server, issuer)
  const error = redirected.get('error')
  const host = new URL(server.issuer).host
  if (error !== null) {
    throw refusedBy(host, client, { error, description: redirected.get('error_description') })
  }
  if (!redirected.get('code')) {
    throw new SignInError('answer_unusable', `${host} returned no authorization code`)
  }
  return validateAuthResponse(metadataOf(server), { client_id: client.id }, redirected, skipStateCheck)
}

function wrongIssuer({ issuer }: AuthorizationServer, given: string | null): SignInError {
  return new SignInError('wrong_issuer', `The response in the browser is not from ${issuer}`, {
    why: [given === null ? 'It does not name its issuer' : `It is from ${given}`],
    hint: 'Close the other sign-in and try again: learnctl auth login',
  })
}
