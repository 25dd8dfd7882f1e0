import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Nobody needs to send so many requests ahead: a browser none, a program that measures seldom more than 16. */
export const mostAhead = 100

type Exchange = readonly [IncomingMessage, ServerResponse]

/** The requests of one connection. */
interface Line {
  /** True while one of them is being answered. */
  isBusy: boolean
  /** What waits behind that one. */
  readonly waiting: Exchange[]
}

/**
 * A listener that answers the requests of a connection one after the other. A client may send the next ones before it
 * has an answer (RFC 9112 §9.3.2), two thousand in one packet: begun all at once they would hold up all others, and
 * their answers fill the memory while nobody reads them. Between two of them it is the turn of other connections.
 *
 * @param overrun told of a connection with more than `mostAhead` waiting; it has been closed
 */
export function inTurn(listener: RequestListener, overrun: (socket: Socket) => void): RequestListener {
  // An entry stays for as long as its connection: to come and go with each request would keep the collector busy.
  const lines = new WeakMap<Socket, Line>()

  function begin(socket: Socket, line: Line, [incoming, outgoing]: Exchange): void {
    line.isBusy = true
    outgoing.on('close', () => {
      if (line.waiting.length > 0 && !socket.destroyed) setImmediate(next, socket, line)
      else line.isBusy = false
    })
    listener(incoming, outgoing)
  }

  function next(socket: Socket, line: Line): void {
    const exchange = line.waiting.shift()
    if (!exchange || socket.destroyed) return
    if (line.waiting.length === 0) socket.resume()
    begin(socket, line, exchange)
  }

  function lineOf(socket: Socket): Line {
    let line = lines.get(socket)
    if (!line) {
      line = { isBusy: false, waiting: [] }
      lines.set(socket, line)
    }
    return line
  }

  return (incoming, outgoing) => {
    const { socket } = incoming
    const line = lineOf(socket)
    if (!line.isBusy) {
      begin(socket, line, [incoming, outgoing])
    } else if (line.waiting.length < mostAhead) {
      if (line.waiting.push([incoming, outgoing]) === 1) socket.pause()
    } else if (!socket.destroyed) {
      socket.destroy()
      overrun(socket)
    }
  }
}
