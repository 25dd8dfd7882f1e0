import { once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, isIP, type Server as NetServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { networkTest } from '../../codec/network-address.ts'
import type { HttpHeaders, HttpRequest, Transport } from '../../contract/http.ts'
import type { IdMaker } from '../database/id.ts'
import { networkOf } from '../http/limits.ts'
import type { LogEntry } from '../http/log.ts'
import { ProblemError, unavailable } from '../problem-error.ts'
import { withContentCoding } from './content-coding.ts'
import { clientAddressOf, createNodeListener } from './node-adapter.ts'
import {
  allowedHostsOf,
  checkRawRequest,
  type ParserError,
  refusalOfRaw,
  sendRaw,
  sendRefusal,
} from './raw-request.ts'

export interface PortOptions {
  readonly host: string
  /** 0 for any free one. */
  readonly port: number
  /** Besides the loopback ones. */
  readonly allowHosts: readonly string[]
  readonly publicUrl: string | undefined
  /** Their pages may read responses (Fetch standard, CORS). */
  readonly corsOrigins: readonly string[]
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

/** Refuses what does not reach the app, and holds other requests until there is a transport that answers them. */
export class Port {
  readonly #options: PortOptions
  readonly #parts: PortParts
  readonly #server: Server
  readonly #allowedHosts: ReadonlySet<string>
  readonly #strictTransport: ReturnType<typeof strictTransportOf>
  /** The newest response of each open connection, undefined before its first request. */
  readonly #newest = new Map<Socket, ServerResponse | undefined>()
  readonly #opened = Promise.withResolvers<Listener>()
  #listener: Listener | undefined
  #isClosing = false
  /** Number of requests that are being answered, also those whose client has disconnected. */
  #open = 0
  #whenNoneIsOpen: (() => void) | undefined

  constructor(options: PortOptions, parts: PortParts) {
    this.#options = options
    this.#parts = parts
    this.#allowedHosts = allowedHostsOf(options)
    this.#strictTransport = strictTransportOf(options)
    const { tls, timeouts = slowClientTimeouts } = options
    this.#server = createSocketServer(tls, timeouts, (incoming, outgoing) => this.#take(incoming, outgoing))
    // For TLS, `connection` has the raw socket. Connections that have not finished the handshake end by its timeout.
    this.#server.on(tls ? 'secureConnection' : 'connection', (socket: Socket) => {
      this.#newest.set(socket, undefined)
      socket.once('close', () => this.#newest.delete(socket))
    })
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

  /** Refuses new requests, and closes each connection when its responses are sent, at the latest after `limitMs`. */
  async close(limitMs: number): Promise<void> {
    this.#isClosing = true
    const late = setTimeout(() => this.#server.closeAllConnections(), limitMs)
    const closed = once(this.#server.close(), 'close')
    // By itself Node waits for the timeouts of connections that have sent nothing yet, or were kept alive.
    for (const socket of this.#newest.keys()) this.#closeWhenAnswered(socket)
    await closed
    clearTimeout(late)
  }

  #closeWhenAnswered(socket: Socket): void {
    const response = this.#newest.get(socket)
    if (!response || response.closed) socket.destroySoon()
    else response.once('close', () => this.#closeWhenAnswered(socket))
  }

  /** Resolves when no request is being answered any more; it may take longer than its connection is open. */
  ended(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#open === 0) resolve()
      else this.#whenNoneIsOpen = resolve
    })
  }

  abort(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  /**
   * Answers the requests of a connection one after another. A client may pipeline two thousand in one packet (RFC 9112
   * §9.3.2): concurrently they would block others, and their unread responses fill the memory.
   */
  #take(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { socket } = incoming
    const before = this.#newest.get(socket)
    this.#newest.set(socket, outgoing)
    if (!before || before.closed) {
      this.#answer(incoming, outgoing)
      return
    }
    socket.pause()
    const next = () => {
      if (socket.destroyed) return
      if (this.#newest.get(socket) === outgoing) socket.resume()
      this.#answer(incoming, outgoing)
    }
    // In between it is the turn of other connections.
    before.once('close', () => setImmediate(next))
  }

  #answer(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { now, newId, log } = this.#parts
    const secure = this.#strictTransport(incoming.headers.host)
    for (const name in secure) outgoing.setHeader(name, secure[name] ?? '')
    const refusal = checkRawRequest(incoming, this.#allowedHosts)
    if (this.#isClosing) outgoing.setHeader('connection', 'close')
    if (refusal) {
      sendRefusal(incoming, outgoing, refusal, newId('req'), now(), log)
      return
    }
    this.#open += 1
    const answered = this.#listener
      ? this.#listener(incoming, outgoing)
      : this.#opened.promise.then((listener) => listener(incoming, outgoing))
    void answered.then(() => {
      this.#open -= 1
      if (this.#open === 0) this.#whenNoneIsOpen?.()
    })
  }

  #refuseInvalid(): void {
    const { tls, connections = defaultCap, trustedProxies = [] } = this.#options
    const { now, newId, log } = this.#parts
    const server = this.#server
    const refuse = (refusal: ProblemError, socket: Duplex) =>
      sendRaw(refusal, socket, newId('req'), now(), log)
    capConnections(server, connections, networkTest(trustedProxies), (socket) => {
      // During the TLS handshake, a plain response would be invalid.
      if (!tls) refuse(tooManyConnections, socket)
      // Do not wait until the client has read it: the connection would count as open.
      socket.destroySoon()
    })
    server.on('clientError', (error: ParserError, socket) => {
      // A client that does not use TLS cannot be answered.
      const isMute = error.code === 'ECONNRESET' || (tls && error.code?.startsWith('ERR_SSL'))
      // An invalid body is detected after the response to its head.
      const answered = this.#newest.get(socket as Socket)
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

interface TlsFiles {
  readonly cert: string
  readonly key: string
}

/**
 * Timeouts of slow clients, in milliseconds. Node's defaults are 60 s, 300 s and a check every 30 s, with
 * which a few hundred idle sockets can block a server.
 */
const slowClientTimeouts = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
}

/** HTTPS (TLS 1.2 and above, RFC 8996) if there is a certificate. */
function createSocketServer(
  tls: TlsFiles | undefined,
  timeouts: typeof slowClientTimeouts,
  listener: RequestListener,
): Server {
  // Node would refuse a missing Host without problem details.
  const options = { ...timeouts, requireHostHeader: false }
  if (!tls) return createServer(options, listener)
  const handshakeTimeout = timeouts.headersTimeout
  return createTlsServer({ ...options, ...tls, minVersion: 'TLSv1.2', handshakeTimeout }, listener)
}

/** A year, as browsers require (RFC 6797 §6.1). */
const strictTransport = { 'strict-transport-security': 'max-age=31536000' } as const

/**
 * Returns the header that makes browsers always use https (RFC 6797), for a public https URL. Not for
 * addresses, which browsers ignore, nor for loopback, where it would affect other programs on the machine.
 */
function strictTransportOf({
  publicUrl,
  tls,
}: {
  publicUrl: string | undefined
  tls?: TlsFiles | undefined
}): (host: string | undefined) => Readonly<Record<string, string>> {
  const headersAt = (url: string) => (isSecureHost(url) ? strictTransport : {})
  if (publicUrl !== undefined) {
    const always = headersAt(publicUrl)
    return () => always
  }
  return tls ? (host) => headersAt(`https://${host}`) : () => ({})
}

function isSecureHost(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  const isName = isIP(hostname) === 0 && !hostname.startsWith('[')
  return protocol === 'https:' && isName && !/(^|\.)localhost\.?$/.test(hostname)
}

/** In total, and from one network. */
interface ConnectionCap {
  readonly whole: number
  readonly each: number
}

/** A browser opens six, a program rarely more than a hundred. */
const defaultCap: ConnectionCap = { whole: 1000, each: 250 }

/**
 * Refuses further connections of a network with its maximum, so that no client can block others. A trusted
 * proxy has many clients and may use the total.
 */
export function capConnections(
  server: NetServer,
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
