import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Follows the connections of a server from now on. The function it gives stops listening, closes each connection
 * once nothing on it waits for an answer, and ends when all are closed, at the latest after `limitMs`.
 *
 * Node's own `close` leaves open for their whole timeouts the connections that have sent nothing yet, and those
 * whose last answer was promised more.
 */
export function drainOf(server: Server): (limitMs: number) => Promise<void> {
  const waiting = new Map<Socket, number>()
  let stopping = false

  function count(socket: Socket, change: 1 | -1): void {
    const before = waiting.get(socket)
    if (before === undefined) return
    waiting.set(socket, before + change)
    if (stopping && before + change === 0) socket.destroySoon()
  }

  // What requests come on over TLS is not the connection itself: one that has not agreed on TLS is not followed, and
  // ends with the time it has for that.
  server.on('addContext' in server ? 'secureConnection' : 'connection', (socket: Socket) => {
    waiting.set(socket, 0)
    socket.once('close', () => waiting.delete(socket))
  })
  server.on('request', ({ socket }, answer) => {
    count(socket, 1)
    answer.on('close', () => count(socket, -1))
  })

  return (limitMs) =>
    new Promise((resolve) => {
      stopping = true
      const late = setTimeout(() => server.closeAllConnections(), limitMs)
      server.close(() => {
        clearTimeout(late)
        resolve()
      })
      for (const [socket, requests] of waiting) if (requests === 0) socket.destroySoon()
    })
}
