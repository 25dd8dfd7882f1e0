import type { FindProxy } from '../../codec/proxy.ts'
import { version } from '../../contract/version.ts'
import { standardSignatureOf } from '../../lms/standard-signature.ts'
import { createCachedOpening, type Sealing } from '../access/sealing.ts'
import {
  createGuardedConnect,
  RefusedTarget,
  type Resolve,
  type Targets,
} from '../outgoing/guarded-connect.ts'
import type { Claimed } from './claim.ts'
import { type EndpointRow, secretPlace } from './endpoint-row.ts'
import { pauseMs } from './retry-schedule.ts'

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
  const { open } = createCachedOpening(sealing, now)

  /** Signs with all valid secrets (Standard Webhooks 1.0.0, Signature scheme). */
  function signed(endpoint: EndpointRow, { id, body }: Claimed): Record<string, string> {
    const seconds = Math.floor(signedAt().getTime() / 1000)
    const { secret, previous_secret: previous, previous_secret_until: until } = endpoint
    const counts = previous !== null && until !== null && until > now().toISOString()
    const signatures = [secret, ...(counts ? [previous] : [])].map((text) =>
      standardSignatureOf(open(secretPlace(endpoint.id), text), { id, seconds, body }),
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
const goneStatus = 410

/** Interprets a response (Standard Webhooks 1.0.0, Operational considerations). */
function outcomeOf({ status, retryAfter, response }: Received, now: Date): Outcome {
  const outcome = { status, response, pauseMs: 0, result: `HTTP ${status}` }
  if (status >= 200 && status < 300) return { ...outcome, kind: 'delivered' }
  if (status === goneStatus) return { ...outcome, kind: 'gone', result: 'HTTP 410: endpoint disabled' }
  if (status >= 300 && status < 400) {
    return { ...outcome, kind: 'failed', result: `HTTP ${status}: redirects are not followed` }
  }
  return { ...outcome, kind: 'failed', pauseMs: busyStatuses.includes(status) ? pauseMs(retryAfter, now) : 0 }
}

/** Returns the outcome of an attempt without a response. */
function failureOf(error: unknown): Outcome {
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

const maxResultLength = 200

function wordsOf(error: unknown): string {
  const { name, message, code } = error as { name?: string; message?: string; code?: string }
  if (name === 'RefusedTarget') return `Refused: ${message}`
  const known = words[code ?? '']
  if (known !== undefined) return known
  if (/^HPE_/.test(code ?? '')) return 'The response is not valid HTTP'
  if (/CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO/.test(code ?? '')) return `TLS failed: ${code}`
  return `Failed: ${code ?? message ?? String(error)}`.slice(0, maxResultLength).toWellFormed()
}

/** The request of an attempt. */
interface Sending {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Aborts the attempt. */
  readonly signal: AbortSignal
}

/** A response: its head, and the beginning of the body as text. */
interface Received {
  readonly status: number
  readonly retryAfter: string | undefined
  readonly response: string
}

/** Makes an attempt; throws network errors and RefusedTarget. Redirects are responses. */
type Send = (sending: Sending) => Promise<Received>

/** Sends messages over connections that are kept open for a while. */
export interface Sender {
  readonly send: Send
  close(): Promise<void>
}

const readBytes = 4096
const shownCharacters = 1000
const keepAliveMs = 10_000

/** Headers of every attempt. */
const standing = { 'content-type': 'application/json', 'user-agent': `learnctl/${version}` }

/** Opens a sender to the allowed targets, through their proxy. Loads its code with the first attempt. */
export function openSender(targets: Targets, findProxy?: FindProxy, resolve?: Resolve): Sender {
  let opened: ReturnType<typeof open> | undefined

  async function open() {
    const { Agent, buildConnector, request } = await import('undici')
    const agent = new Agent({
      connect: createGuardedConnect(targets, buildConnector, resolve, findProxy),
      pipelining: 1,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs,
      // The complete attempt has a timeout.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    return { agent, request }
  }

  return {
    async send({ url, headers, body, signal }) {
      const refusal = targets.refusalOf(new URL(url))
      if (refusal !== undefined) throw new RefusedTarget(refusal)
      opened ??= open()
      const { agent, request } = await opened
      const answer = await request(url, {
        method: 'POST',
        headers: { ...standing, ...headers },
        body,
        signal,
        dispatcher: agent,
      })
      const retryAfter = [answer.headers['retry-after'] ?? []].flat()[0]
      return { status: answer.statusCode, retryAfter, response: await beginningOf(answer.body) }
    },

    async close() {
      if (opened) await (await opened).agent.destroy()
    },
  }
}

/**
 * Returns the beginning of a body as text. Ignores that the rest is late or missing, because the status has
 * arrived.
 */
async function beginningOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = []
  let size = 0
  try {
    for await (const piece of body) {
      pieces.push(piece)
      size += piece.length
      // break closes the connection
      if (size >= readBytes) break
    }
  } catch {
    // Keep what was read.
  }
  const text = new TextDecoder().decode(Buffer.concat(pieces).subarray(0, readBytes))
  // Databases do not store U+0000.
  return text.replaceAll('\0', '\u{FFFD}').slice(0, shownCharacters).toWellFormed()
}
