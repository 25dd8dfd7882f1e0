import { pauseMs } from './retry-schedule.ts'
import type { Received } from './sender.ts'

export interface Outcome {
  /**
   * `refused` is a message that the receiver will never accept; `released` is an attempt that was aborted because the server
   * stops: it does not count.
   */
  readonly kind: 'delivered' | 'failed' | 'refused' | 'gone' | 'released'
  /** Null without a response. */
  readonly status: number | null
  readonly result: string
  /** Beginning of the body. */
  readonly response: string
  /** Pause that the receiver asks for; 0 for none. */
  readonly pauseMs: number
}

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
