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
import type { Kept, SignIn } from './code-sign-in.ts'
import { SignInError } from './errors.ts'
import { clientAuthentication, readAnswer, refusalError } from './oauth-exchange.ts'
import { requestTokens } from './token-response.ts'

const defaultIntervalSeconds = 5
/** Added to this and every later wait on `slow_down` (RFC 8628 §3.5). */
const slowDownMs = 5000
/** Maximum lifetime of a code, even if the server claims a longer one. */
const maxLifetimeSeconds = 3600

export interface DevicePrompt {
  readonly code: string
  readonly address: string
  /** URL that includes the code; null if the server sends none. */
  readonly completeAddress: string | null
  readonly minutes: number
}

interface DeviceSignIn<Result extends Kept = Kept> extends SignIn<Result> {
  readonly show: (prompt: DevicePrompt) => Promise<void>
  /** Called before each wait with the remaining lifetime of the code. */
  readonly onWait: (leftMs: number) => Promise<void>
  /** True for a network error, after which the same request may be sent again. */
  readonly isTransient: (fault: unknown) => boolean
  /** Called for each transient fault, with the time until the next attempt. */
  readonly onFault: (fault: unknown, waitMs: number) => Promise<void>
}

/** RFC 8628. Throws a SignInError, or the signal's reason. */
export async function signInByDevice<Result extends Kept>(signIn: DeviceSignIn<Result>): Promise<Result> {
  const authorization = await authorizeDevice(signIn)
  await signIn.show(authorization.prompt)
  return signIn.keep(await poll(signIn, authorization))
}

interface DeviceAuthorization {
  readonly deviceCode: string
  readonly prompt: DevicePrompt
  readonly intervalMs: number
  readonly endMs: number
}

async function authorizeDevice({
  server,
  client,
  scopes,
  fetch,
  signal,
  now,
}: DeviceSignIn): Promise<DeviceAuthorization> {
  const { deviceAuthorizationEndpoint: endpoint, issuer } = server
  const metadata = metadataOf(server)
  const identity = { client_id: client.id }
  if (endpoint === null) throw notOffered(issuer)
  const response = await deviceAuthorizationRequest(
    metadata,
    identity,
    clientAuthentication(client, server.secretPlace),
    { scope: scopes.join(' ') },
    { [customFetch]: fetch, [allowInsecureRequests]: true, signal },
  )
  if (!server.hasMetadata && isMissingEndpoint(response)) throw notOffered(issuer)
  const { body, refusal } = await readAnswer(endpoint, response)
  const startMs = now()
  if (refusal !== null) throw refusalError(new URL(endpoint).host, client, refusal)
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
  const lifetimeSeconds = Math.min(given.expires_in, maxLifetimeSeconds)
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
  }
}

/** True if a guessed endpoint does not exist: an error for the path, or the platform's web page. */
function isMissingEndpoint({ status, headers }: Response): boolean {
  const isPage = /^text\/html\b/i.test(headers.get('content-type') ?? '')
  return [404, 405, 501].includes(status) || (isPage && status < 500)
}

function notOffered(issuer: string): SignInError {
  return new SignInError('flow_not_offered', `${issuer} does not support signing in with a code`, {
    hint: 'Use: learnctl auth login --no-browser, or --with-key',
  })
}

/** Validates a URL that a browser will open; any other scheme might start a program. */
function pageAt(endpoint: string, address: string): string {
  const url = URL.canParse(address) ? new URL(address) : null
  // A user name can make the URL look like another host, and would be sent as a credential.
  if (url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return url.href
  const { host } = new URL(endpoint)
  throw new SignInError('answer_unusable', `${host} returned an invalid URL for entering the code`)
}

async function poll(signIn: DeviceSignIn, authorization: DeviceAuthorization): Promise<StoredTokens> {
  const { now, sleep, signal } = signIn
  const { endMs } = authorization
  let { intervalMs } = authorization
  let lastFault: unknown = null
  for (;;) {
    signal.throwIfAborted()
    const leftMs = endMs - now()
    if (leftMs <= 0) throw lastFault ?? expiredError()
    await signIn.onWait(leftMs)
    await sleep(Math.min(intervalMs, leftMs), signal)
    try {
      const { tokens, refusal } = await requestDeviceTokens(signIn, authorization)
      if (refusal === null) return tokens
      if (refusal.error === 'slow_down') intervalMs += slowDownMs
      else if (refusal.error !== 'authorization_pending') {
        throw refusalError(new URL(signIn.server.tokenEndpoint).host, signIn.client, refusal)
      }
      lastFault = null
    } catch (fault) {
      if (!signIn.isTransient(fault)) throw fault
      // Exponential backoff on network errors, as RFC 8628 §3.5 suggests.
      intervalMs *= 2
      lastFault = fault
      await signIn.onFault(fault, Math.min(intervalMs, Math.max(0, endMs - now())))
    }
  }
}

function requestDeviceTokens(signIn: DeviceSignIn, { deviceCode }: DeviceAuthorization) {
  const { server, client, fetch, signal } = signIn
  return requestTokens(signIn, () =>
    deviceCodeGrantRequest(
      metadataOf(server),
      { client_id: client.id },
      clientAuthentication(client, server.secretPlace),
      deviceCode,
      { [customFetch]: fetch, [allowInsecureRequests]: true, signal },
    ),
  )
}

function expiredError(): SignInError {
  return new SignInError('sign_in_timed_out', 'The code expired before anyone signed in', {
    hint: 'Try again: learnctl auth login --device',
  })
}
