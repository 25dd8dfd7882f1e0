import {
  allowInsecureRequests,
  customFetch,
  deviceAuthorizationRequest,
  deviceCodeGrantRequest,
  OperationProcessingError,
  processDeviceAuthorizationResponse,
} from 'oauth4webapi'
import type { StoredTokens } from '../config/profiles.ts'
import { metadataOf } from './authorization-server.ts'
import { clientAuthentication, inEachPlace, type SecretPlace } from './client-identity.ts'
import type { Kept, SignIn } from './code-sign-in.ts'
import { readAnswer } from './endpoint-answer.ts'
import { SignInError } from './errors.ts'
import { refusedBy } from './refused.ts'
import { requestTokens } from './token-response.ts'

const defaultIntervalSeconds = 5
/** What a `slow_down` adds to this and every later wait (RFC 8628 §3.5). */
const slowDownMs = 5000
/** The longest that a code is believed to live, whatever its server says. */
const longestSeconds = 3600

/** What the person has to do, somewhere else. */
export interface DevicePrompt {
  readonly code: string
  /** Where the code is typed in. */
  readonly address: string
  /** The same with the code in it; null where the server gives none. */
  readonly completeAddress: string | null
  readonly minutes: number
}

/** Signing in with a browser that may be on any machine. */
export interface DeviceSignIn<Result extends Kept = Kept> extends SignIn<Result> {
  readonly show: (prompt: DevicePrompt) => Promise<void>
  /** Is told before each wait how long the code is still good for. */
  readonly onWait: (leftMs: number) => Promise<void>
  /** True for a fault after which the same request may be sent again: the network's. */
  readonly isPassing: (fault: unknown) => boolean
  /** Is told of each such fault, and how long it waits until it asks again. */
  readonly onFault: (fault: unknown, waitMs: number) => Promise<void>
}

/** Signs in with a code that is typed in elsewhere (RFC 8628). Throws a SignInError, or the reason of the signal. */
export async function signInByDevice<Result extends Kept>(signIn: DeviceSignIn<Result>): Promise<Result> {
  const begun = await begin(signIn)
  await signIn.show(begun.prompt)
  return signIn.keep(await poll(signIn, begun))
}

interface Begun {
  readonly deviceCode: string
  readonly prompt: DevicePrompt
  readonly intervalMs: number
  readonly endMs: number
  /** Where the client secret was taken. */
  readonly place: SecretPlace
}

async function begin({ server, client, scopes, fetch, signal, now }: DeviceSignIn): Promise<Begun> {
  const { deviceAuthorizationEndpoint: endpoint, issuer, secretPlaces } = server
  const metadata = metadataOf(server)
  const identity = { client_id: client.id }
  if (endpoint === null) throw notOffered(issuer)
  const placed = await inEachPlace(client, secretPlaces, async (place) => {
    const response = await deviceAuthorizationRequest(
      metadata,
      identity,
      clientAuthentication(client, place),
      { scope: scopes.join(' ') },
      { [customFetch]: fetch, [allowInsecureRequests]: true, signal },
    )
    if (!server.published && isNowhere(response)) throw notOffered(issuer)
    return readAnswer(endpoint, response)
  })
  const startMs = now()
  const { body, refusal } = placed.answer
  if (refusal !== null) throw refusedBy(new URL(endpoint).host, client, refusal)
  const { interval, ...others } = body
  const given = await processDeviceAuthorizationResponse(metadata, identity, Response.json(others)).catch(
    (error) => {
      if (!(error instanceof OperationProcessingError)) throw error
      const why = error.message.replace('"response" body ', '')
      throw new SignInError('answer_unusable', `${new URL(endpoint).host} returned no usable code: ${why}`, {
        cause: error,
      })
    },
  )
  const lifetimeSeconds = Math.min(given.expires_in, longestSeconds)
  return {
    deviceCode: given.device_code,
    prompt: {
      code: given.user_code,
      address: pageAt(endpoint, given.verification_uri),
      completeAddress:
        given.verification_uri_complete === undefined
          ? null
          : pageAt(endpoint, given.verification_uri_complete),
      minutes: Math.ceil(lifetimeSeconds / 60),
    },
    intervalMs: 1000 * (typeof interval === 'number' && interval >= 1 ? interval : defaultIntervalSeconds),
    endMs: startMs + lifetimeSeconds * 1000,
    place: placed.place,
  }
}

/** True for the answer of a platform that has nothing where this one was guessed: a refusal of the path, or its web page. */
function isNowhere({ status, headers }: Response): boolean {
  const isPage = /^text\/html\b/i.test(headers.get('content-type') ?? '')
  return [404, 405, 501].includes(status) || (isPage && status < 500)
}

function notOffered(issuer: string): SignInError {
  return new SignInError('flow_not_offered', `${issuer} does not support signing in with a code`, {
    hint: 'Use: learnctl auth login --no-browser, or --with-key',
  })
}

/** An address that a browser may open; anything else might be a program to run. */
function pageAt(endpoint: string, address: string): string {
  const url = URL.canParse(address) ? new URL(address) : null
  // A user name in front of the host can make it look like another one, and be sent as a credential.
  if (url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return url.href
  const { host } = new URL(endpoint)
  throw new SignInError('answer_unusable', `${host} returned an invalid URL for entering the code`)
}

async function poll(signIn: DeviceSignIn, begun: Begun): Promise<StoredTokens> {
  const { now, sleep, signal } = signIn
  const { endMs } = begun
  let { intervalMs } = begun
  let lastFault: unknown = null
  for (;;) {
    signal.throwIfAborted()
    const leftMs = endMs - now()
    if (leftMs <= 0) throw lastFault ?? expired()
    await signIn.onWait(leftMs)
    await sleep(Math.min(intervalMs, leftMs), signal)
    try {
      const { tokens, refusal } = await ask(signIn, begun)
      if (refusal === null) return tokens
      if (refusal.error === 'slow_down') intervalMs += slowDownMs
      else if (refusal.error !== 'authorization_pending') {
        throw refusedBy(new URL(signIn.server.tokenEndpoint).host, signIn.client, refusal)
      }
      lastFault = null
    } catch (fault) {
      if (!signIn.isPassing(fault)) throw fault
      // Twice as long after each fault of the network, for good (RFC 8628 §3.5).
      intervalMs *= 2
      lastFault = fault
      await signIn.onFault(fault, Math.min(intervalMs, Math.max(0, endMs - now())))
    }
  }
}

function ask(signIn: DeviceSignIn, { deviceCode, place }: Begun) {
  const { server, client, fetch, signal } = signIn
  return requestTokens(signIn, place, () =>
    deviceCodeGrantRequest(
      metadataOf(server),
      { client_id: client.id },
      clientAuthentication(client, place),
      deviceCode,
      { [customFetch]: fetch, [allowInsecureRequests]: true, signal },
    ),
  )
}

function expired(): SignInError {
  return new SignInError('sign_in_timed_out', 'The code expired before anyone signed in', {
    hint: 'Try again: learnctl auth login --device',
  })
}
