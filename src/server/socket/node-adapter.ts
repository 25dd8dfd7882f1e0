import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HttpRequest, HttpResponse, Transport } from '../../contract/http.ts'

/** Told of a response that could not be given to its end: its head may have gone out as a success. */
export type OnBroken = (request: HttpRequest, response: HttpResponse, cause: unknown) => void

/** Puts a transport behind a socket of Node's. */
export function nodeListener(
  handle: Transport,
  onBroken: OnBroken,
): (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void> {
  return async (incoming, outgoing) => {
    const request = requestOf(incoming)
    const response = await handle(request)
    try {
      await send(response, outgoing)
    } catch (cause) {
      onBroken(request, response, cause)
      // A clean end would make the part that went out look whole.
      outgoing.destroy()
    }
  }
}

function requestOf(incoming: IncomingMessage): HttpRequest {
  const { method = 'GET', headers, url = '/', socket } = incoming
  const request = {
    method,
    url: `http://${headers.host ?? 'localhost'}${url}`,
    // Only set-cookie comes as several lines, and no request has one.
    headers: headers as Record<string, string>,
    address: socket.remoteAddress ?? 'unknown',
  }
  if (method === 'GET' || method === 'HEAD') return request
  // Whoever stops reading still has to be answered, which takes the connection.
  return { ...request, body: incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array> }
}

function send({ status, headers, body }: HttpResponse, outgoing: ServerResponse): Promise<void> | void {
  if (body === null) {
    outgoing.writeHead(status, headers)
    outgoing.end()
  } else if (typeof body === 'string' || body instanceof Uint8Array) {
    outgoing.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) })
    outgoing.end(body)
  } else {
    outgoing.writeHead(status, headers)
    return pour(body, outgoing)
  }
}

/** Writes a stream as fast as the socket takes it; leaves it where the reader has gone. */
async function pour(body: AsyncIterable<string | Uint8Array>, outgoing: ServerResponse): Promise<void> {
  const gone = new AbortController()
  const leave = () => gone.abort()
  outgoing.once('close', leave)
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
