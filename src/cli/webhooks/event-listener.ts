import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exchangeWithin } from '../../client/timeout.ts'
import type { ClosableTransport } from '../../client/undici.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import type { HttpHeaders } from '../../contract/http.ts'
import { verifyStandard } from '../../lms/standard.ts'
import type { Io } from '../terminal/io.ts'

/** A received event, signed with the secret of the listener. */
export interface ArrivedEvent {
  /** Identifies the event in each attempt to deliver it. */
  readonly id: string
  readonly type: string
  readonly timestamp: string
  readonly data: JsonObject
  /** Headers that a receiver needs: the content type and those of the signature. */
  readonly headers: HttpHeaders
  readonly body: string
}

const forwardedHeaders = [
  'content-type',
  'user-agent',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
]

/** Refuses events that are not signed with the secret. `onEvent` returns the status of the response. */
export async function listenForEvents(
  secret: () => string | undefined,
  now: () => number,
  onEvent: (event: ArrivedEvent) => Promise<number>,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const { origin, close } = await listenOnLoopback(async (request, body) => {
    if (request.method !== 'POST') return 405
    const headers: HttpHeaders = Object.fromEntries(
      forwardedHeaders.flatMap((name) =>
        request.headers[name] ? [[name, String(request.headers[name])]] : [],
      ),
    )
    const known = secret()
    const event = known === undefined ? undefined : eventIn(body, headers, known, now())
    return event ? onEvent(event) : 401
  })
  return { url: `${origin}/`, close }
}

/** Undefined if the event is not signed or is none. */
function eventIn(
  rawBody: Buffer,
  headers: HttpHeaders,
  secret: string,
  now: number,
): ArrivedEvent | undefined {
  try {
    const id = verifyStandard({ headers, rawBody, query: new URLSearchParams() }, [secret], now)
    const body = rawBody.toString('utf8')
    const event: unknown = JSON.parse(body)
    if (!isJsonObject(event) || !isJsonObject(event['data'])) return undefined
    const { type, timestamp, data } = event
    return { id, type: String(type), timestamp: String(timestamp), data: data as JsonObject, headers, body }
  } catch {
    return undefined
  }
}

export interface Forwarded {
  readonly status: number | null
  readonly durationMs: number
  readonly error: string | null
}

interface Forwarder {
  forward(event: ArrivedEvent): Promise<Forwarded>
  close(): Promise<void>
}

/** Shorter than the sender's timeout. */
const timeoutMs = 10_000

/** Keeps headers and body, so that the receiver can verify them. */
export async function openForwarder(io: Pick<Io, 'env' | 'now' | 'signal'>, url: string): Promise<Forwarder> {
  const { createNetworkTransport } = await import('../../client/network.ts')
  const transport: ClosableTransport = await createNetworkTransport({ env: io.env })
  return {
    async forward({ headers, body }) {
      const began = io.now()
      try {
        const request = { method: 'POST', url, headers, body, signal: io.signal }
        const answer = await exchangeWithin(transport, request, { timeoutMs, idleTimeoutMs: timeoutMs })
        // Drain the response.
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

interface LoopbackServer {
  readonly origin: string
  close(): Promise<void>
}

/** Larger than any event. */
const maxBytes = 4 * 1024 * 1024

/** Listens on a free loopback port, to which any program on this machine can send; answers with a status. */
async function listenOnLoopback(
  answer: (request: IncomingMessage, body: Buffer) => Promise<number> | number,
): Promise<LoopbackServer> {
  const { createServer } = await import('node:http')
  const server = createServer(async (request, response) => {
    try {
      const bytes = await bodyOf(request)
      response.writeHead(bytes ? await answer(request, bytes) : 413).end()
    } catch {
      response.destroy()
    }
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  // A TCP server's address has a port.
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    close: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer | null> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of request) {
    const bytes: Buffer = piece
    size += bytes.length
    if (size > maxBytes) return null
    pieces.push(bytes)
  }
  return Buffer.concat(pieces)
}
