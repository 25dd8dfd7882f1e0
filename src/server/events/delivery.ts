import type { FindProxy } from '../../codec/proxy.ts'
import { version } from '../../contract/version.ts'
import type { Database, Row } from '../database/database.ts'
import { openGuardedClient, type Resolve, readBeginning, type Targets } from '../outgoing/guarded-client.ts'
import type { EndpointRow } from './endpoint-row.ts'

export interface EndpointDelivery {
  readonly maxMessages: number
  /** By a server to one endpoint, so that a receiver that hangs blocks no other one; 1 if a delivery has several messages. */
  readonly maxConcurrent: number
  /** Minimum time from one delivery to the next, of all servers together; 0 for none. */
  readonly intervalMs: number
  /**
   * Sends messages, in the order of their creation. Returns the outcome of each, or one for all. If it throws, all
   * have failed without a response.
   */
  readonly deliver: (
    messages: readonly Claimed[],
    delivery: Delivery,
  ) => Promise<Outcome | readonly Outcome[]>
}

export interface Claimed extends Row {
  readonly id: string
  readonly type: string
  readonly subject: string
  readonly body: string
  /** Failed attempts since it was queued, or resent. */
  readonly step: number
  readonly attempt_count: number
}

export interface Delivery {
  readonly endpoint: EndpointRow
  readonly database: Database
  /** Null if the server does not know its own address. */
  readonly dashboardUrl: string | null
  readonly now: Date
  /** Time of signatures, which receivers compare with their own. */
  readonly signedAt: Date
  /** Sealed for `secretPlace`. */
  readonly open: (sealed: string) => string
  /** Within the timeout of the delivery; throws network errors and RefusedTarget. */
  readonly post: (request: OutgoingRequest) => Promise<Received>
}

export interface Outcome {
  /** `refused`: the receiver will never accept it; `released`: aborted because the server stops, which does not count. */
  readonly kind: 'delivered' | 'failed' | 'refused' | 'gone' | 'released'
  /** Null without a response. */
  readonly status: number | null
  readonly result: string
  readonly response: string
  /** Pause that the receiver asks for; 0 for none. */
  readonly pauseMs: number
}

export const released: Outcome = { kind: 'released', status: null, result: '', response: '', pauseMs: 0 }

/** The receiver is overloaded, or its upstream is unavailable. */
const busyStatuses: readonly number[] = [429, 502, 503, 504]
const goneStatus = 410

const shownCharacters = 1000

/** Standard Webhooks 1.0.0, Operational considerations. */
export function outcomeOf({ status, retryAfter, response: text }: Received, now: Date): Outcome {
  const response = text.slice(0, shownCharacters).toWellFormed()
  const outcome = { status, response, pauseMs: 0, result: `HTTP ${status}` }
  if (status >= 200 && status < 300) return { ...outcome, kind: 'delivered' }
  if (status === goneStatus) return { ...outcome, kind: 'gone', result: 'HTTP 410: endpoint disabled' }
  if (status >= 300 && status < 400) {
    return { ...outcome, kind: 'failed', result: `HTTP ${status}: redirects are not followed` }
  }
  return { ...outcome, kind: 'failed', pauseMs: busyStatuses.includes(status) ? pauseMs(retryAfter, now) : 0 }
}

export function failureOf(error: unknown): Outcome {
  return { kind: 'failed', status: null, result: wordsOf(error), response: '', pauseMs: 0 }
}

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

const second = 1000

/** Shortest, default and longest pause that a receiver may ask for. */
const [minPauseMs, defaultPauseMs, maxPauseMs] = [second, 60 * second, 3600 * second] as const

/**
 * Returns the pause that a receiver asks for with Retry-After (RFC 9110 §10.2.3), from a second to an hour;
 * by default a minute.
 */
function pauseMs(retryAfter: string | undefined, now: Date): number {
  const text = retryAfter?.trim() ?? ''
  const requestedMs = /^\d{1,9}$/.test(text) ? Number(text) * second : Date.parse(text) - now.getTime()
  if (Number.isNaN(requestedMs)) return defaultPauseMs
  return Math.min(maxPauseMs, Math.max(minPauseMs, requestedMs))
}

/** The body is JSON unless the headers say otherwise. */
export interface OutgoingRequest {
  readonly method?: 'GET' | 'POST'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

interface Sending extends OutgoingRequest {
  readonly signal: AbortSignal
}

export interface Received {
  readonly status: number
  readonly retryAfter: string | undefined
  readonly response: string
}

/** Throws network errors and RefusedTarget. Redirects are responses. */
export type Send = (sending: Sending) => Promise<Received>

export interface Sender {
  readonly send: Send
  close(): Promise<void>
}

const readBytes = 32_768
const keepAliveMs = 10_000

const standing = { 'content-type': 'application/json', 'user-agent': `learnctl/${version}` }

export function openSender(targets: Targets, findProxy?: FindProxy, resolve?: Resolve): Sender {
  const client = openGuardedClient(targets, keepAliveMs, findProxy, resolve)
  return {
    async send({ method = 'POST', url, headers, body, signal }) {
      const answer = await client.send(url, {
        method,
        headers: { ...standing, ...headers },
        ...(method === 'POST' && { body }),
        signal,
      })
      const retryAfter = [answer.headers['retry-after'] ?? []].flat()[0]
      // The status has arrived: the rest of the body may be late or missing.
      const { bytes } = await readBeginning(answer.body, readBytes)
      // Databases do not store U+0000.
      const response = new TextDecoder().decode(bytes).replaceAll('\0', '\u{FFFD}').toWellFormed()
      return { status: answer.statusCode, retryAfter, response }
    },
    close: () => client.close(),
  }
}
