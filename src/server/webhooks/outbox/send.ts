import type { FindProxy } from '../../../codec/proxy.ts'
import { version } from '../../../contract/version.ts'
import { guardedConnect, RefusedTarget, type Resolve } from './guarded-connect.ts'
import type { Targets } from './targets.ts'

/** One attempt as it goes over the network. */
export interface Sending {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Ends the attempt. */
  readonly signal: AbortSignal
}

/** What a receiver answered: the head, and the beginning of the body as text. */
export interface Received {
  readonly status: number
  readonly retryAfter: string | undefined
  readonly response: string
}

/** Makes one attempt; throws what kept it from being answered, RefusedTarget among it. Redirects are answers. */
export type Send = (sending: Sending) => Promise<Received>

/** Sends, over connections that it keeps for a while. */
export interface Sender {
  readonly send: Send
  close(): Promise<void>
}

const readBytes = 4096
const shownCharacters = 1000
const keptAliveMs = 10_000

/** Headers of every attempt. */
const standing = { 'content-type': 'application/json', 'user-agent': `learnctl/${version}` }

/** Sends to what the rules allow, through the proxy that is set for it. Nothing is loaded before the first attempt. */
export function openSender(targets: Targets, findProxy?: FindProxy, resolve?: Resolve): Sender {
  let opened: ReturnType<typeof open> | undefined

  async function open() {
    const { Agent, buildConnector, request } = await import('undici')
    const agent = new Agent({
      connect: guardedConnect(targets, buildConnector, resolve, findProxy),
      pipelining: 1,
      keepAliveTimeout: keptAliveMs,
      keepAliveMaxTimeout: keptAliveMs,
      // The attempt as a whole has its time.
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

/** The beginning of a body as text; what comes late or breaks off is left out: the status has come. */
async function beginningOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = []
  let size = 0
  try {
    for await (const piece of body) {
      pieces.push(piece)
      size += piece.length
      // Leaving the loop closes the connection.
      if (size >= readBytes) break
    }
  } catch {
    // Whatever ended it: what was read is what there is.
  }
  const text = new TextDecoder().decode(Buffer.concat(pieces).subarray(0, readBytes))
  // No database keeps U+0000 in a text.
  return text.replaceAll('\0', '\u{FFFD}').slice(0, shownCharacters).toWellFormed()
}
