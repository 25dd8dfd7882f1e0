import { standardSignature } from '../../lms/standard-signature.ts'
import { cachedOpening, type Sealing } from '../sealing/sealing.ts'
import type { Claimed } from './claim.ts'
import { type EndpointRow, secretPlace } from './endpoint-row.ts'
import { pauseMs } from './retry-schedule.ts'
import type { Received, Send } from './send.ts'

/** Calls a function later, unless the returned timer is cleared. */
export type Later = (work: () => void, ms: number) => { clear(): void }

/** Dependencies of attempts. */
export interface AttemptParts {
  readonly send: Send
  readonly sealing: Sealing
  readonly now: () => Date
  /** Clock of the signatures, which receivers compare with their own. */
  readonly signedAt: () => Date
  readonly later: Later
  /** Aborts all attempts, which then do not count. */
  readonly stopping: AbortSignal
}

/** Timeout of a complete attempt, from the DNS lookup to the end of the response. */
const attemptMs = 15_000
/** Delay of a message whose secret cannot be decrypted. */
const unsignedMs = 60_000

const released: Outcome = { kind: 'released', status: null, result: '', response: '', pauseMs: 0 }

/** Creates a function that makes attempts and signs each; it never throws. */
export function attemptsWith({ send, sealing, now, signedAt, later, stopping }: AttemptParts) {
  const { open } = cachedOpening(sealing, now)

  /** Signs with all valid secrets (Standard Webhooks 1.0.0, Signature scheme). */
  function signed(endpoint: EndpointRow, { id, body }: Claimed): Record<string, string> {
    const seconds = Math.floor(signedAt().getTime() / 1000)
    const { secret, previous_secret: previous, previous_secret_until: until } = endpoint
    const counts = previous !== null && until !== null && until > now().toISOString()
    const signatures = [secret, ...(counts ? [previous] : [])].map((text) =>
      standardSignature(open(secretPlace(endpoint.id), text), { id, seconds, body }),
    )
    return {
      'webhook-id': id,
      'webhook-timestamp': String(seconds),
      'webhook-signature': signatures.join(' '),
    }
  }

  return async (endpoint: EndpointRow, message: Claimed): Promise<Outcome> => {
    let headers: Readonly<Record<string, string>>
    try {
      headers = signed(endpoint, message)
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      return { ...failureOf(error), result: `Cannot be signed: ${why}`, pauseMs: unsignedMs }
    }
    const ending = new AbortController()
    const end = () => ending.abort()
    stopping.addEventListener('abort', end, { once: true })
    const timer = later(end, attemptMs)
    try {
      const { url } = endpoint
      return outcomeOf(await send({ url, headers, body: message.body, signal: ending.signal }), now())
    } catch (error) {
      if (stopping.aborted) return released
      if (!ending.signal.aborted) return failureOf(error)
      return { ...failureOf(error), result: `No response within ${attemptMs / 1000} s` }
    } finally {
      timer.clear()
      stopping.removeEventListener('abort', end)
    }
  }
}

/** Result of an attempt. */
export interface Outcome {
  /** `released` is an attempt that was aborted because the server stops: it does not count. */
  readonly kind: 'delivered' | 'failed' | 'gone' | 'released'
  /** HTTP status; null without a response. */
  readonly status: number | null
  /** Description of the result. */
  readonly result: string
  /** Beginning of the response body. */
  readonly response: string
  /** Pause that the receiver asks for; 0 for none. */
  readonly pauseMs: number
}

/** Statuses of a receiver that is overloaded, or whose upstream is unavailable. */
const busyStatuses: readonly number[] = [429, 502, 503, 504]
const gone = 410

/** Interprets a response (Standard Webhooks 1.0.0, Operational considerations). */
export function outcomeOf({ status, retryAfter, response }: Received, now: Date): Outcome {
  const outcome = { status, response, pauseMs: 0, result: `HTTP ${status}` }
  if (status >= 200 && status < 300) return { ...outcome, kind: 'delivered' }
  if (status === gone) return { ...outcome, kind: 'gone', result: 'HTTP 410: endpoint disabled' }
  if (status >= 300 && status < 400) {
    return { ...outcome, kind: 'failed', result: `HTTP ${status}: redirects are not followed` }
  }
  return { ...outcome, kind: 'failed', pauseMs: busyStatuses.includes(status) ? pauseMs(retryAfter, now) : 0 }
}

/** Returns the outcome of an attempt without a response. */
export function failureOf(error: unknown): Outcome {
  return { kind: 'failed', status: null, result: wordsOf(error), response: '', pauseMs: 0 }
}

/** Descriptions of network errors. */
const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'Connection refused',
  ECONNRESET: 'Connection closed before the response',
  UND_ERR_SOCKET: 'Connection closed before the response',
  EPIPE: 'Connection closed before the response',
  ENOTFOUND: 'Host not found',
  EAI_AGAIN: 'Host not found: the name server does not respond',
  EHOSTUNREACH: 'Host cannot be reached',
  ENETUNREACH: 'Network cannot be reached',
  ETIMEDOUT: 'Connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'Connection timed out',
  UND_ERR_HEADERS_OVERFLOW: 'The headers of the response are too large',
}

const longest = 200

function wordsOf(error: unknown): string {
  const { name, message, code } = error as { name?: string; message?: string; code?: string }
  if (name === 'RefusedTarget') return `Refused: ${message}`
  const known = words[code ?? '']
  if (known !== undefined) return known
  if (/^HPE_/.test(code ?? '')) return 'The response is not valid HTTP'
  if (/CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO/.test(code ?? '')) return `TLS failed: ${code}`
  return `Failed: ${code ?? message ?? String(error)}`.slice(0, longest).toWellFormed()
}
