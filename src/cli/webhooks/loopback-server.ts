import { once } from 'node:events'
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface LoopbackServer {
  readonly origin: string
  close(): Promise<void>
}

/** Local endpoint that receives webhooks in place of another system. */
export interface Listener {
  readonly url: string
  /** Further settings of the endpoint that sends to it. */
  readonly endpoint?: { readonly xapi: { readonly username: string }; readonly password: string }
  close(): Promise<void>
}

export interface LoopbackReply {
  readonly status: number
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string
}

/** Larger than a batch of 500 statements. */
const maxBytes = 4 * 1024 * 1024

/** Listens on a free loopback port, to which any program on this machine can send. */
export async function listenOnLoopback(
  answer: (request: IncomingMessage, body: Buffer) => Promise<LoopbackReply> | LoopbackReply,
): Promise<LoopbackServer> {
  const { createServer } = await import('node:http')
  const server = createServer(async (request, response) => {
    try {
      const bytes = await bodyOf(request)
      const { status, headers = {}, body = '' } = bytes ? await answer(request, bytes) : { status: 413 }
      response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body)
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
