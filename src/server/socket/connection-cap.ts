import type { Server, Socket } from 'node:net'
import { networkOf } from '../http/network.ts'

/** How many connections there may be at a time: all together, and from one network. */
export interface ConnectionCap {
  readonly whole: number
  readonly each: number
}

/** A browser opens six, a program seldom more than a hundred. */
export const usualCap: ConnectionCap = { whole: 1000, each: 250 }

/**
 * Refuses connections of a network that has its share, so that no client, however idle, takes those of all others. A
 * trusted proxy brings many clients, and may take all.
 */
export function capConnections(
  server: Server,
  { whole, each }: ConnectionCap,
  isTrusted: (address: string) => boolean,
  refuse: (socket: Socket) => void,
): void {
  const open = new Map<string, number>()
  server.maxConnections = whole
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    if (isTrusted(address)) return
    const network = networkOf(address)
    const count = (open.get(network) ?? 0) + 1
    open.set(network, count)
    socket.once('close', () => {
      const left = (open.get(network) ?? 0) - 1
      if (left > 0) open.set(network, left)
      else open.delete(network)
    })
    if (count > each) refuse(socket)
  })
}
