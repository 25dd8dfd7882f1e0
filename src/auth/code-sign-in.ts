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
import { SignInError } from './errors.ts'
import { clientAuthentication, type Fetch, refusalError } from './oauth-exchange.ts'
import { failurePage, type Loopback, openLoopback, readPasted, successPage } from './redirect-listener.ts'
import { requestTokens, type TokenPurpose } from './token-response.ts'

export const signInTimeoutMinutes = 5

export interface Kept {
  readonly account: string | null
}

export interface SignIn<Result extends Kept> extends TokenPurpose {
  readonly fetch: Fetch
  readonly signal: AbortSignal
  /** Command that signs in to a server of others, for hints; `learnctl auth login` without it. */
  readonly again?: string
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /** Stores the tokens after checking that they work. */
  readonly keep: (tokens: StoredTokens) => Promise<Result>
}

export interface CodeSignIn<Result extends Kept = Kept> extends SignIn<Result> {
  /** Registered redirect URI; null for any port, as this program's own client may use. */
  readonly redirectUri: string | null
  /** Parameters besides those of OAuth 2.0. */
  readonly parameters?: Readonly<Record<string, string>>
  readonly show: (url: string) => Promise<void>
  /** Prompts for the final URL of the browser until `check` accepts it; null if prompts are disabled. */
  readonly paste: ((check: (text: string) => string | true, signal: AbortSignal) => Promise<void>) | null
}

export interface AuthorizationRequest {
  readonly endpoint: string
  readonly clientId: string
  readonly redirectUri: string
  readonly scopes: readonly string[]
  readonly state: string
  readonly challenge: string
  readonly parameters?: Readonly<Record<string, string>> | undefined
}

/** RFC 6749 §4.1.1, RFC 7636 §4.3. */
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
    ...request.parameters,
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}

/** RFC 6749 §4.1. The browser gets its page when the sign-in has ended. Throws a SignInError, or the signal's reason. */
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
      parameters: signIn.parameters,
    })
    await signIn.show(url)
    const parameters = await waitForRedirect(signIn, loopback, state)
    const tokens = await exchangeCode(signIn, parameters, loopback.redirectUri, verifier)
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

async function waitForRedirect(
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
  const late = signIn.sleep(signInTimeoutMinutes * 60_000, signal).then(() => {
    throw timedOut(signIn)
  })
  const question = signIn.paste === null ? null : askForRedirect(signIn.paste, state, signal)
  const answer = question?.then((given) => given ?? new Promise<never>(() => {}))
  try {
    return await Promise.race([loopback.redirected, interrupted, late, ...(answer ? [answer] : [])])
  } finally {
    over.abort()
    // Wait until the prompt has been cleared from the screen.
    await question?.catch(() => {})
  }
}

/** Null if the prompt was cancelled. */
async function askForRedirect(
  paste: NonNullable<CodeSignIn['paste']>,
  state: string,
  signal: AbortSignal,
): Promise<URLSearchParams | null> {
  let redirect: URLSearchParams | null = null
  await paste((text) => {
    const read = readPasted(text, state)
    if (typeof read === 'string') return read
    redirect = read
    return true
  }, signal)
  return redirect
}

function timedOut({ server, client, again = 'learnctl auth login' }: CodeSignIn): SignInError {
  const unknown = !server.hasMetadata && client.id === ownClientId
  return new SignInError('sign_in_timed_out', `Sign-in timed out after ${signInTimeoutMinutes} minutes`, {
    hint: unknown
      ? 'If learnctl is not registered there, use your own application: --client-id <id> --redirect-uri <uri>'
      : `Try again: ${again}`,
  })
}

async function exchangeCode(
  signIn: CodeSignIn,
  redirected: URLSearchParams,
  redirectUri: string,
  verifier: string,
): Promise<StoredTokens> {
  const { server, client, fetch, signal } = signIn
  const answer = validateRedirect(signIn, redirected)
  const { tokens, refusal } = await requestTokens(signIn, () =>
    authorizationCodeGrantRequest(
      metadataOf(server),
      { client_id: client.id },
      clientAuthentication(client, server.secretPlace),
      answer,
      redirectUri,
      verifier,
      // Discovery has checked each endpoint.
      { [customFetch]: fetch, [allowInsecureRequests]: true, signal },
    ),
  )
  if (refusal === null) return tokens
  throw refusalError(new URL(server.tokenEndpoint).host, client, refusal, hintOf(signIn))
}

/** RFC 9207 §2.4. */
function validateRedirect(signIn: CodeSignIn, redirected: URLSearchParams): URLSearchParams {
  const { server, client } = signIn
  const issuer = redirected.get('iss')
  if (issuer === null ? server.sendsIssuer : issuer !== server.issuer) throw wrongIssuer(signIn, issuer)
  const error = redirected.get('error')
  const host = new URL(server.issuer).host
  if (error !== null) {
    const description = redirected.get('error_description')
    throw refusalError(host, client, { error, description }, hintOf(signIn))
  }
  if (!redirected.get('code')) {
    throw new SignInError('answer_unusable', `${host} returned no authorization code`)
  }
  return validateAuthResponse(metadataOf(server), { client_id: client.id }, redirected, skipStateCheck)
}

function hintOf({ again }: CodeSignIn): string | undefined {
  return again === undefined ? undefined : `Check the client id and secret, and try again: ${again}`
}

function wrongIssuer(
  { server: { issuer }, again = 'learnctl auth login' }: CodeSignIn,
  given: string | null,
): SignInError {
  return new SignInError('wrong_issuer', `The response in the browser is not from ${issuer}`, {
    why: [given === null ? 'It does not name its issuer' : `It is from ${given}`],
    hint: `Close the other sign-in and try again: ${again}`,
  })
}
