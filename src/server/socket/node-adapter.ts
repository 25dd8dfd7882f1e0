import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import { finished } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { networkTest } from '../../codec/network-address.ts'
import type { HttpHeaders, HttpRequest, HttpResponse, Transport } from '../../contract/http.ts'

/** The head of the response may already have been sent as a success. */
type OnBroken = (request: HttpRequest, response: HttpResponse | undefined, cause: unknown) => void

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
      if (!outgoing.destroyed || outgoing.errored === cause) onBroken(request, response, cause)
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
   * Created on first use, which most requests never need. A getter on the class: one on each object would keep requests
   * in memory until a major garbage collection.
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

/** An available body gets a Content-Length; a stream is read no faster than the client reads. */
export function send(
  { status, headers, body }: HttpResponse,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> | void {
  if (body !== null && typeof body !== 'string' && !(body instanceof Uint8Array)) {
    outgoing.writeHead(status, headers)
    // Send the headers at once, because the first row may take long.
    outgoing.flushHeaders()
    return pipeline(body, outgoing)
  }
  const bodiless = incoming.method === 'HEAD' || status === 204 || status === 304
  const length = Buffer.byteLength(body ?? '')
  outgoing.writeHead(status, bodiless ? headers : { ...headers, 'content-length': length })
  // ASCII is equal in both encodings, and latin1 needs no conversion: for a list, that saves a sixth of the time.
  const encoding = length === body?.length ? 'latin1' : 'utf8'
  if (incoming.complete || incoming.destroyed) {
    outgoing.end(body ?? '', encoding)
    return
  }
  // Drain the request's body, so that closing the connection does not lose the response of a client that is still
  // sending.
  outgoing.write(body ?? '', encoding)
  finished(incoming.resume(), () => outgoing.end())
}

export type ClientAddress = (peer: string, headers: IncomingHttpHeaders) => string

/**
 * Finds the client address behind trusted proxies (addresses or networks): the first from the right that is not a proxy.
 * Returns the last proxy's own if it names no address, or if Forwarded (RFC 7239) and X-Forwarded-For contradict each
 * other: the client may have written one of them.
 */
export function clientAddressOf(proxies: readonly string[]): ClientAddress {
  if (proxies.length === 0) return (peer) => peer
  const isTrusted = networkTest(proxies)

  return (peer, { forwarded, 'x-forwarded-for': xForwardedFor }) => {
    if (!isTrusted(peer)) return peer
    const lists = [
      ...(forwarded === undefined ? [] : [forwardedFor(forwarded)]),
      ...(xForwardedFor === undefined ? [] : [[xForwardedFor].flat().join(',').split(',').map(addressIn)]),
    ]
    const [client = peer, other = client] = lists.map((list) => clientIn(list, peer, isTrusted))
    return client === other ? client : peer
  }
}

/** The last known one if a proxy named none. */
function clientIn(
  way: readonly (string | null)[],
  peer: string,
  isTrusted: (address: string) => boolean,
): string {
  let known = peer
  for (const address of way.toReversed()) {
    if (address === null) return known
    known = address
    if (!isTrusted(address)) return known
  }
  return known
}

/** RFC 7239 §4; null for an element that is not an address. */
function forwardedFor(header: string): (string | null)[] {
  return header.split(',').map((element) => {
    const pair = element.split(';').find((one) => /^\s*for=/i.test(one))
    return addressIn(pair?.slice(pair.indexOf('=') + 1).replaceAll('"', '') ?? '')
  })
}

/** Without its port (RFC 7239 §6); null for `unknown` and obfuscated names. */
function addressIn(node: string): string | null {
  const text = node.trim().toLowerCase()
  const bare = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text)?.[1] ?? text.replace(/^([\d.]+):\d{1,5}$/, '$1')
  return isIP(bare) === 0 ? null : bare
}
