import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Nobody needs to send so many requests ahead: a browser none, a program that measures seldom more than 16. */
export const mostAhead = 100

type Exchange = readonly [IncomingMessage, ServerResponse]

/**
 * A listener that answers the requests of a connection one after the other. A client may send the next ones before it
 * has an answer (RFC 9112 §9.3.2), two thousand in one packet: begun all at once they would hold up all others, and
 * their answers fill the memory while nobody reads them. Between two of them it is the turn of other connections.
 *
 * @param overrun told of a connection with more than `mostAhead` waiting; it has been closed
 */
export function inTurn(listener: RequestListener, overrun: (socket: Socket) => void): RequestListener {
  /** What waits behind the request that is being answered; of connections where one is. */
  const lines = new WeakMap<Socket, Exchange[]>()

  function begin(socket: Socket, line: Exchange[], [incoming, outgoing]: Exchange): void {
    outgoing.once('close', () => {
      if (line.length > 0 && !socket.destroyed) setImmediate(next, socket, line)
      else lines.delete(socket)
    })
    listener(incoming, outgoing)
  }

  function next(socket: Socket, line: Exchange[]): void {
    const exchange = line.shift()
    if (!exchange || socket.destroyed) return
    if (line.length === 0) socket.resume()
    begin(socket, line, exchange)
  }

  return (incoming, outgoing) => {
    const { socket } = incoming
    const line = lines.get(socket)
    if (!line) {
      const empty: Exchange[] = []
      lines.set(socket, empty)
      begin(socket, empty, [incoming, outgoing])
    } else if (line.length < mostAhead) {
      if (line.push([incoming, outgoing]) === 1) socket.pause()
    } else if (!socket.destroyed) {
      socket.destroy()
      overrun(socket)
    }
  }
}
