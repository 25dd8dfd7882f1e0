import { once } from 'node:events'
import type { AddressInfo, Server, Socket } from 'node:net'

/** Lets a server listen on a free port of the loopback; `close` ends its connections. */
export async function listen(server: Server) {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  // A server that listens on a host and port has an address object.
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}
