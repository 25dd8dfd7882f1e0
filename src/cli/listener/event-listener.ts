import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isJsonObject, type JsonObject } from '../../codec/json-object.ts'
import type { HttpHeaders } from '../../contract/http.ts'
import { verifyStandard } from '../../webhooks/standard-signature.ts'

/** An event as it arrived, signed with the secret of the listener. */
export interface ArrivedEvent {
  /** By which each attempt to deliver it is known. */
  readonly id: string
  readonly type: string
  readonly timestamp: string
  readonly data: JsonObject
  /** Those that a receiver needs: the type of the body, and what it is verified by. */
  readonly headers: HttpHeaders
  readonly body: string
}

/** Gives the status that the sender is answered with. */
export type OnEvent = (event: ArrivedEvent) => Promise<number>

/** A listener for events on this machine. */
export interface EventListener {
  readonly url: string
  close(): Promise<void>
}

/** More than any event has. */
const maximumBytes = 64 * 1024
const passedOn = ['content-type', 'user-agent', 'webhook-id', 'webhook-timestamp', 'webhook-signature']

/** Listens on a free port of the loopback. What is not signed with the secret is refused: any program may send there. */
export async function listenForEvents(
  secret: () => string | undefined,
  now: () => number,
  onEvent: OnEvent,
): Promise<EventListener> {
  const { createServer } = await import('node:http')
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'POST') return end(response, 405)
    const bytes = await bodyOf(request)
    if (!bytes) return end(response, 413)
    const headers: HttpHeaders = Object.fromEntries(
      passedOn.flatMap((name) => (request.headers[name] ? [[name, String(request.headers[name])]] : [])),
    )
    const known = secret()
    const event = known === undefined ? undefined : eventIn(bytes, headers, known, now())
    end(response, event ? await onEvent(event) : 401)
  }

  await once(server.listen(0, '127.0.0.1'), 'listening')
  // A server that listens on TCP has an address with a port.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/`,
    close: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

function end(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-length': 0 }).end()
}

async function bodyOf(request: IncomingMessage): Promise<Buffer | null> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of request) {
    const bytes: Buffer = piece
    size += bytes.length
    if (size > maximumBytes) return null
    pieces.push(bytes)
  }
  return Buffer.concat(pieces)
}

/** The event that a body is; undefined for what is not signed, or is none. */
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
