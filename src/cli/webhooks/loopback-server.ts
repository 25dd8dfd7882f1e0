import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface LoopbackServer {
  readonly origin: string
  close(): Promise<void>
}

/** Larger than any event. */
const maxBytes = 4 * 1024 * 1024

/** Listens on a free loopback port, to which any program on this machine can send; answers with a status. */
export async function listenOnLoopback(
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
