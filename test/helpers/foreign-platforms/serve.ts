import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { HttpHeaders } from '../../../src/contract/http.ts'
import type { ForeignPlatform } from './platform.ts'

/** Serves a foreign platform on a free loopback port, for tests of the wire and for manual trials. */
export async function serve({
  transport,
}: Pick<ForeignPlatform, 'transport'>): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    // Node joins repeated headers as a transport does, except set-cookie, which no request has.
    const headers = request.headers as HttpHeaders
    const url = `http://${headers['host']}${request.url}`
    const body = Buffer.concat(chunks).toString('utf8')
    const reply = await transport({ method: request.method ?? 'GET', url, headers, body })
    response.writeHead(reply.status, reply.headers).end(reply.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // A listening TCP server has an address with a port.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
