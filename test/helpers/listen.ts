import { once } from 'node:events'
import type { Server as HttpServer } from 'node:http'
import type { AddressInfo, Server } from 'node:net'

/** Lets a server listen on a free port of the loopback. */
export async function listen(server: Server & Partial<Pick<HttpServer, 'closeAllConnections'>>) {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  // A server that listens on a host and port has an address object.
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections?.()
      }),
  }
}
