import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { HttpHeaders, HttpRequest, HttpResponse, Transport } from '../../contract/http.ts'
import type { ClientAddress } from './client-address.ts'

/** The head of the response may already have been sent as a success. */
type OnBroken = (request: HttpRequest, response: HttpResponse | undefined, cause: unknown) => void

/** A refused body is drained until the client is silent, and never longer than the second limit. */
const silenceMs = 5_000
const lingerMs = 30_000

export function createNodeListener(
  handle: Transport,
  onBroken: OnBroken,
  addressOf: ClientAddress = (peer) => peer,
): (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void> {
  return async (incoming, outgoing) => {
    const request = new NodeRequest(incoming, outgoing, addressOf)
    let response: HttpResponse | undefined
    try {
      response = await handle(request)
      await send(response, incoming, outgoing)
    } catch (cause) {
      // If the client has disconnected, this is not a fault.
      if (!outgoing.destroyed) onBroken(request, response, cause)
      // A clean end would make a partial response look complete.
      outgoing.destroy()
    }
  }
}

class NodeRequest implements HttpRequest {
  readonly method: string
  readonly url: string
  readonly headers: HttpHeaders
  readonly address: string
  readonly body?: AsyncIterable<Uint8Array>
  readonly #outgoing: ServerResponse
  #signal: AbortSignal | undefined

  constructor(incoming: IncomingMessage, outgoing: ServerResponse, addressOf: ClientAddress) {
    const { method = 'GET', headers, url = '/', socket } = incoming
    this.method = method
    this.url = `${'encrypted' in socket ? 'https' : 'http'}://${headers.host ?? 'localhost'}${url}`
    // Only set-cookie would be an array, and requests do not use it.
    this.headers = headers as Record<string, string>
    this.address = addressOf(socket.remoteAddress ?? 'unknown', headers)
    this.#outgoing = outgoing
    // Stopping early must not destroy the connection, which still needs a response.
    if (method !== 'GET' && method !== 'HEAD') this.body = incoming.iterator({ destroyOnReturn: false })
  }

  /**
   * Aborted if the connection closes before the response is sent. Created on first use, which most requests
   * never need. A getter on the class, because one on each object would keep requests in memory until a major
   * garbage collection.
   */
  get signal(): AbortSignal {
    this.#signal ??= createGoneSignal(this.#outgoing)
    return this.#signal
  }
}

function createGoneSignal(outgoing: ServerResponse): AbortSignal {
  if (outgoing.destroyed) return AbortSignal.abort()
  const gone = new AbortController()
  outgoing.once('close', () => gone.abort())
  return gone.signal
}

/** An available body gets a Content-Length. */
export function send(
  { status, headers, body }: HttpResponse,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> | void {
  if (body !== null && typeof body !== 'string' && !(body instanceof Uint8Array)) {
    outgoing.writeHead(status, headers)
    return writeStream(body, outgoing)
  }
  const bodiless = incoming.method === 'HEAD' || status === 204 || status === 304
  const length = Buffer.byteLength(body ?? '')
  outgoing.writeHead(status, bodiless ? headers : { ...headers, 'content-length': length })
  // ASCII is equal in both encodings, and latin1 needs no conversion: for a list, that saves a sixth of the
  // time.
  const encoding = length === body?.length ? 'latin1' : 'utf8'
  if (incoming.complete || incoming.destroyed) outgoing.end(body ?? '', encoding)
  else return sendAmidBody(body ?? '', incoming, outgoing)
}

/**
 * Responds while the request's body still arrives: drains the rest, so that the next request on the
 * connection can be read, and so that closing the connection does not lose the response of a client that is
 * still sending.
 */
async function sendAmidBody(
  body: string | Uint8Array,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  outgoing.write(body)
  const closed = new AbortController()
  incoming.once('close', () => closed.abort())
  let hasSent = true
  incoming.on('data', () => {
    hasSent = true
  })
  for (let waited = 0; hasSent && waited < lingerMs && !closed.signal.aborted; waited += silenceMs) {
    hasSent = false
    await delay(silenceMs, undefined, closed).catch(() => {})
  }
  outgoing.end()
}

/** With backpressure; stops if the reader has gone. */
async function writeStream(
  body: AsyncIterable<string | Uint8Array>,
  outgoing: ServerResponse,
): Promise<void> {
  // A pipelined response has no socket until its turn. If the connection closes before, the turn never comes,
  // and nothing has been read.
  if (outgoing.socket === null) await once(outgoing, 'socket')
  if (outgoing.destroyed) return
  const gone = new AbortController()
  const leave = () => gone.abort()
  outgoing.once('close', leave)
  // Send the headers at once, because the first row may take long.
  outgoing.flushHeaders()
  try {
    for await (const piece of body) {
      if (gone.signal.aborted) return
      if (!outgoing.write(piece)) await once(outgoing, 'drain', { signal: gone.signal }).catch(() => {})
    }
    outgoing.end()
  } finally {
    outgoing.off('close', leave)
  }
}
