import { exchangeWithin } from '../../client/timeout.ts'
import type { ClosableTransport } from '../../client/undici.ts'
import type { Io } from '../terminal/io.ts'
import type { ArrivedEvent } from './event-listener.ts'

/** What came of passing an event on: a status, or why there is none. */
export interface Forwarded {
  readonly status: number | null
  readonly durationMs: number
  readonly error: string | null
}

/** Passes events on to another address. */
export interface Forwarder {
  forward(event: ArrivedEvent): Promise<Forwarded>
  close(): Promise<void>
}

/** Less than the sender waits. */
const timeoutMs = 10_000

/** Passes events on with the headers and the body that they came with, so that the receiver can verify them. */
export async function openForwarder(io: Pick<Io, 'env' | 'now' | 'signal'>, url: string): Promise<Forwarder> {
  const { createNetworkTransport } = await import('../../client/network.ts')
  const transport: ClosableTransport = await createNetworkTransport({ env: io.env })
  return {
    async forward({ headers, body }) {
      const began = io.now()
      try {
        const request = { method: 'POST', url, headers, body, signal: io.signal }
        const answer = await exchangeWithin(transport, request, { timeoutMs, idleTimeoutMs: timeoutMs })
        // What it says is nobody's business here.
        if (answer.body && !(answer.body instanceof Uint8Array)) for await (const _ of answer.body) break
        return { status: answer.status, durationMs: io.now() - began, error: null }
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error)
        return { status: null, durationMs: io.now() - began, error: message }
      }
    },
    close: () => transport.close(),
  }
}
