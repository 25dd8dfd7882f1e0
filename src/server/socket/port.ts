import { once } from 'node:events'
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { HttpHeaders, HttpRequest, Transport } from '../../contract/http.ts'
import type { IdMaker } from '../database/id.ts'
import type { LogEntry } from '../http/log.ts'
import { ProblemError, unavailable } from '../problem-error.ts'
import { clientAddressOf, createProxyTest } from './client-address.ts'
import { withContentCoding } from './content-coding.ts'
import { drainOf } from './drain.ts'
import { createNodeListener } from './node-adapter.ts'
import {
  allowedHostsOf,
  checkRawRequest,
  entryOf,
  type ParserError,
  refusalOfRaw,
  sendRaw,
  sendRefusal,
} from './raw-request.ts'
import {
  type ConnectionCap,
  capConnections,
  createSocketServer,
  defaultCap,
  slowClientTimeouts,
  strictTransportOf,
  type TlsFiles,
} from './socket-server.ts'

export interface PortOptions {
  readonly host: string
  /** 0 for any free one. */
  readonly port: number
  /** Besides the loopback ones. */
  readonly allowHosts: readonly string[]
  readonly publicUrl: string | undefined
  /** Their pages may read responses (Fetch standard, CORS). */
  readonly corsOrigins: readonly string[]
  /** By address or network. */
  readonly trustedProxies?: readonly string[]
  /** Plain http without a certificate. */
  readonly tls?: TlsFiles | undefined
  readonly connections?: ConnectionCap
  readonly timeouts?: typeof slowClientTimeouts
}

interface PortParts {
  readonly now: () => Date
  readonly newId: IdMaker
  readonly log: (entry: LogEntry) => void
}

type Listener = ReturnType<typeof createNodeListener>

const stalledMs = 120_000
const noTunnel = new ProblemError(
  'invalid_parameter',
  'The request is not valid HTTP/1.1: CONNECT is not supported.',
)
const tooManyConnections = unavailable('Too many connections from this address; close some and try again.', 5)
const tooManyAhead = new ProblemError('unavailable', 'Too many requests were sent before their answers.')

/**
 * The port of a server. It refuses what does not reach the app, and holds other requests until there is a
 * transport that answers them.
 */
export class Port {
  readonly #options: PortOptions
  readonly #parts: PortParts
  readonly #server: Server
  readonly #drain: (limitMs: number) => Promise<void>
  readonly #allowedHostsOf: ReadonlySet<string>
  readonly #strictTransport: ReturnType<typeof strictTransportOf>
  /** The newest response of each connection. */
  readonly #latest = new WeakMap<Duplex, ServerResponse>()
  readonly #opened = Promise.withResolvers<Listener>()
  #listener: Listener | undefined
  #isClosing = false

  constructor(options: PortOptions, parts: PortParts) {
    this.#options = options
    this.#parts = parts
    this.#allowedHostsOf = allowedHostsOf(options)
    this.#strictTransport = strictTransportOf(options)
    const { tls, timeouts = slowClientTimeouts } = options
    const queued = queueRequests(
      (incoming, outgoing) => this.#answer(incoming, outgoing),
      () => parts.log(entryOf(tooManyAhead, parts.newId('req'), '', '', parts.now())),
    )
    this.#server = createSocketServer(tls, timeouts, (incoming, outgoing) => {
      this.#latest.set(incoming.socket, outgoing)
      queued(incoming, outgoing)
    })
    this.#drain = drainOf(this.#server)
    this.#server.timeout = stalledMs
    this.#refuseInvalid()
  }

  /** Throws if the port is in use. */
  async listen(): Promise<void> {
    const { host, port } = this.#options
    await once(this.#server.listen(port, host), 'listening')
  }

  get url(): string {
    const { host, tls } = this.#options
    // A TCP server has an address object.
    const { port } = this.#server.address() as AddressInfo
    return `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`
  }

  get isAnswering(): boolean {
    return this.#listener !== undefined
  }

  get isClosing(): boolean {
    return this.#isClosing
  }

  /** Answers requests with this transport from now on, also those that wait. */
  answerWith(transport: Transport): void {
    const { corsOrigins, trustedProxies = [] } = this.#options
    const { now, log } = this.#parts
    this.#listener = createNodeListener(
      withCors(withContentCoding(transport), corsOrigins),
      ({ method, url }, response, cause) =>
        log({
          time: now().toISOString(),
          requestId: response?.headers['x-request-id'] ?? '',
          method,
          path: new URL(url).pathname,
          ...(cause instanceof ProblemError
            ? { status: cause.status, code: cause.code }
            : { status: 500, code: 'stream_broken' }),
          durationMs: 0,
          cause,
        }),
      clientAddressOf(trustedProxies),
    )
    this.#opened.resolve(this.#listener)
  }

  /** Refuses new requests and closes each connection when its responses are sent, at the latest after `limitMs`. */
  close(limitMs: number): Promise<void> {
    this.#isClosing = true
    return this.#drain(limitMs)
  }

  abort(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  #answer(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { now, newId, log } = this.#parts
    const secure = this.#strictTransport(incoming.headers.host)
    for (const name in secure) outgoing.setHeader(name, secure[name] ?? '')
    const refusal = checkRawRequest(incoming, this.#allowedHostsOf)
    if (this.#isClosing) outgoing.setHeader('connection', 'close')
    if (refusal) sendRefusal(incoming, outgoing, refusal, newId('req'), now(), log)
    else if (this.#listener) void this.#listener(incoming, outgoing)
    else void this.#opened.promise.then((listener) => listener(incoming, outgoing))
  }

  /** Refuses connections beyond the cap, and what Node's parser rejects, with problem details. */
  #refuseInvalid(): void {
    const { tls, connections = defaultCap, trustedProxies = [] } = this.#options
    const { now, newId, log } = this.#parts
    const server = this.#server
    const refuse = (refusal: ProblemError, socket: Duplex) =>
      sendRaw(refusal, socket, newId('req'), now(), log)
    capConnections(server, connections, createProxyTest(trustedProxies), (socket) => {
      // During the TLS handshake, a plain response would be invalid.
      if (!tls) refuse(tooManyConnections, socket)
      // Do not wait until the client has read it: the connection would count as open.
      socket.destroySoon()
    })
    server.on('clientError', (error: ParserError, socket) => {
      // A client that does not use TLS cannot be answered.
      const isMute = error.code === 'ECONNRESET' || (tls && error.code?.startsWith('ERR_SSL'))
      // An invalid body is detected after the response to its head.
      const answered = this.#latest.get(socket)
      if (isMute || !socket.writable) socket.destroy()
      else if (answered?.headersSent && !answered.req.complete) socket.end(() => socket.destroy())
      else refuse(refusalOfRaw(error), socket)
    })
    // By default Node closes a CONNECT without a response, and answers an unknown Expect without problem
    // details; an expectation may be ignored (RFC 9110 §10.1.1).
    server.on('connect', (_, socket) => refuse(noTunnel, socket))
    server.on('checkExpectation', (incoming, outgoing) => server.emit('request', incoming, outgoing))
  }
}

const exposeHeaders = [
  'Accept-Patch',
  'Allow',
  'Content-Disposition',
  'ETag',
  'Idempotent-Replayed',
  'Link',
  'Location',
  'Preference-Applied',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Unchanged',
  'WWW-Authenticate',
  'X-Request-Id',
].join(',')
const allowMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'].join(',')

/**
 * Lets pages of these origins read the responses (Fetch standard, §3.2). Answers a preflight with 204 for any
 * path; errors are for the request itself.
 */
function withCors(handle: Transport, origins: readonly string[]): Transport {
  if (origins.length === 0) return handle
  return async (request) => {
    const { origin, 'access-control-request-headers': askedHeaders } = request.headers
    const allowed: HttpHeaders =
      origin !== undefined && origins.includes(origin) ? { 'access-control-allow-origin': origin } : {}
    const { headers, ...response } = await handle(request)
    if (!isPreflight(request)) {
      const exposed = { 'access-control-expose-headers': exposeHeaders, vary: addVary(headers, 'Origin') }
      return { ...response, headers: { ...headers, ...allowed, ...exposed } }
    }
    const { 'content-type': _, ...plain } = headers
    const preflight = {
      ...plain,
      ...allowed,
      'access-control-allow-methods': allowMethods,
      ...(askedHeaders !== undefined && { 'access-control-allow-headers': askedHeaders }),
      vary: addVary(headers, 'Origin, Access-Control-Request-Headers'),
    }
    return { status: 204, headers: preflight, body: null }
  }
}

function isPreflight({ method, headers }: HttpRequest): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined
}

function addVary({ vary }: HttpHeaders, by: string): string {
  return vary === undefined ? by : `${vary}, ${by}`
}

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
