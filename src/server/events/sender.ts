import type { FindProxy } from '../../codec/proxy.ts'
import { version } from '../../contract/version.ts'
import {
  createGuardedConnect,
  RefusedTarget,
  type Resolve,
  type Targets,
} from '../outgoing/guarded-connect.ts'

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

/** To the allowed targets, through their proxy. Loads its code with the first attempt. */
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
    async send({ method = 'POST', url, headers, body, signal }) {
      const refusal = targets.refusalOf(new URL(url))
      if (refusal !== undefined) throw new RefusedTarget(refusal)
      opened ??= open()
      const { agent, request } = await opened
      const answer = await request(url, {
        method,
        headers: { ...standing, ...headers },
        ...(method === 'POST' && { body }),
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
    // Keep the part that was read.
  }
  const text = new TextDecoder().decode(Buffer.concat(pieces).subarray(0, readBytes))
  // Databases do not store U+0000.
  return text.replaceAll('\0', '\u{FFFD}').toWellFormed()
}
