import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Transport } from '../../contract/http.ts'

/**
 * Tracks the connections of a server. The returned function stops listening, closes each connection when it
 * has no pending responses, and resolves when all are closed, at the latest after `limitMs`.
 *
 * Node's own `close` waits for the timeouts of connections that have sent nothing yet, or were kept alive.
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

  // For TLS, `connection` has the raw socket. Connections that have not finished the handshake are not
  // tracked and end by its timeout.
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

/** `ended` waits for all work, which continues after a client disconnects. */
export function trackWork(transport: Transport): { handle: Transport; ended: () => Promise<void> } {
  const none = Promise.withResolvers<void>()
  let open = 0
  let isEnding = false
  return {
    async handle(request) {
      open += 1
      try {
        return await transport(request)
      } finally {
        open -= 1
        if (isEnding && open === 0) none.resolve()
      }
    },
    ended() {
      isEnding = true
      if (open === 0) none.resolve()
      return none.promise
    },
  }
}
