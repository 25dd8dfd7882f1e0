import type { FindProxy } from '../../codec/proxy.ts'
import { version } from '../../contract/version.ts'
import { openGuardedClient, type Resolve, readBeginning, type Targets } from '../outgoing/guarded-client.ts'

/** The body is JSON unless the headers say otherwise. */
export interface OutgoingRequest {
  /** Default POST. */
  readonly method?: 'GET' | 'POST'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

interface Sending extends OutgoingRequest {
  readonly signal: AbortSignal
}

/** The head, and the beginning of the body as text. */
export interface Received {
  readonly status: number
  readonly retryAfter: string | undefined
  readonly response: string
}

/** Throws network errors and RefusedTarget. Redirects are responses. */
export type Send = (sending: Sending) => Promise<Received>

/** Connections are kept open for a while. */
export interface Sender {
  readonly send: Send
  close(): Promise<void>
}

const readBytes = 32_768
const keepAliveMs = 10_000

const standing = { 'content-type': 'application/json', 'user-agent': `learnctl/${version}` }

/** To the allowed targets, through their proxy. */
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
