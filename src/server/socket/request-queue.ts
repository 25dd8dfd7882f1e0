import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Maximum requests sent ahead on a connection: browsers send none, benchmarks rarely more than 16. */
export const maxQueued = 100

type Exchange = readonly [IncomingMessage, ServerResponse]

interface Line {
  isBusy: boolean
  /** Behind the one that is being answered. */
  readonly waiting: Exchange[]
}

/**
 * Creates a listener that answers the requests of a connection one after another. A client may send requests
 * before it has the responses (RFC 9112 §9.3.2), two thousand in one packet: concurrently they would block
 * others, and their unread responses fill the memory. Other connections take turns in between.
 *
 * @param overrun called for a connection with more than `maxQueued` waiting requests, which has been closed
 */
export function queueRequests(listener: RequestListener, overrun: (socket: Socket) => void): RequestListener {
  // Entries live as long as their connection: creating one per request would burden the garbage collector.
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
    } else if (line.waiting.length < maxQueued) {
      if (line.waiting.push([incoming, outgoing]) === 1) socket.pause()
    } else if (!socket.destroyed) {
      socket.destroy()
      overrun(socket)
    }
  }
}
