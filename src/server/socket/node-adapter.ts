import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { HttpHeaders, HttpRequest, HttpResponse, Transport } from '../../contract/http.ts'
import type { ClientAddress } from './client-address.ts'

/** Told of a response that could not be given to its end: its head may have gone out as a success. */
export type OnBroken = (request: HttpRequest, response: HttpResponse | undefined, cause: unknown) => void

const lingerMs = 1_000

/** Puts a transport behind a socket of Node's. */
export function nodeListener(
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
      // Where the client has gone, nothing is broken but off.
      if (!outgoing.destroyed) onBroken(request, response, cause)
      // A clean end would make the part that went out look whole.
      outgoing.destroy()
    }
  }
}

/** A request as Node has it. */
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
    // Only set-cookie would be several lines, and nobody reads that of a request.
    this.headers = headers as Record<string, string>
    this.address = addressOf(socket.remoteAddress ?? 'unknown', headers)
    this.#outgoing = outgoing
    // Whoever stops reading still has to be answered, which takes the connection.
    if (method !== 'GET' && method !== 'HEAD') this.body = incoming.iterator({ destroyOnReturn: false })
  }

  /**
   * Aborted once the connection is closed before the answer has gone out. It is made when it is asked for, which for
   * most requests is never; a getter of an object of its own would be a shape of its own, and keep each request in
   * memory until old objects are collected.
   */
  get signal(): AbortSignal {
    this.#signal ??= goneSignal(this.#outgoing)
    return this.#signal
  }
}

function goneSignal(outgoing: ServerResponse): AbortSignal {
  if (outgoing.destroyed) return AbortSignal.abort()
  const gone = new AbortController()
  outgoing.once('close', () => gone.abort())
  return gone.signal
}

/** Sends a response; a body that is at hand goes with its length. */
export function send(
  { status, headers, body }: HttpResponse,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> | void {
  if (body !== null && typeof body !== 'string' && !(body instanceof Uint8Array)) {
    outgoing.writeHead(status, headers)
    return pour(body, outgoing)
  }
  const bodiless = incoming.method === 'HEAD' || status === 204 || status === 304
  const length = Buffer.byteLength(body ?? '')
  outgoing.writeHead(status, bodiless ? headers : { ...headers, 'content-length': length })
  // ASCII is the same in both, and as latin1 it goes out as it is: for a list that is a sixth of the work.
  const encoding = length === body?.length ? 'latin1' : 'utf8'
  if (incoming.complete || incoming.destroyed) outgoing.end(body ?? '', encoding)
  else return sendAmidBody(body ?? '', incoming, outgoing)
}

/**
 * Answers while the request's own body still comes: what is left of it is dropped, so that the next request on the
 * connection begins where it begins, and a connection that is to be closed is not closed on a client that is sending,
 * which would lose the answer.
 */
async function sendAmidBody(
  body: string | Uint8Array,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  outgoing.write(body)
  incoming.resume()
  const late = new AbortController()
  await Promise.race([once(incoming, 'close'), delay(lingerMs, undefined, late)]).catch(() => {})
  late.abort()
  outgoing.end()
}

/** Writes a stream as fast as the socket takes it; leaves it where the reader has gone. */
async function pour(body: AsyncIterable<string | Uint8Array>, outgoing: ServerResponse): Promise<void> {
  // Behind other answers on its connection it waits for its turn, which never comes where that is closed before:
  // nothing has been read by then.
  if (outgoing.socket === null) await once(outgoing, 'socket')
  if (outgoing.destroyed) return
  const gone = new AbortController()
  const leave = () => gone.abort()
  outgoing.once('close', leave)
  // Whoever waits for the first row, which may be long in coming, knows at once that it is.
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
