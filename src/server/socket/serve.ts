import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Transport } from '../../contract/http.ts'
import type { UpgradeWatch } from '../academy/upgrade-in-process.ts'
import type { PasswordCost } from '../access/password-hash.ts'
import { clockAheadMs } from '../database/health.ts'
import { type IdMaker, idMaker } from '../database/id.ts'
import type { PostgresOptions } from '../database/postgres/reach-postgres.ts'
import { serveOutbox } from '../events/dispatcher.ts'
import { createApp } from '../http/app.ts'
import { type LogEntry, logLine } from '../http/log.ts'
import { type LongReadLimits, longReadLimits, openLongReads } from '../long-reads/long-reads.ts'
import { outgoingWhenNeeded } from '../outgoing/outgoing-when-needed.ts'
import { ProblemError, unavailable } from '../problem-error.ts'
import { allRoutes, allWebRoutes } from '../routes.ts'
import { academySealing } from '../sealing/academy-sealing.ts'
import { keepInOrder } from '../upkeep.ts'
import { clientAddressOf, trustedAmong } from './client-address.ts'
import { withContentCoding } from './content-coding.ts'
import { withCors } from './cors.ts'
import { drainOf, trackWork } from './drain.ts'
import { nodeListener } from './node-adapter.ts'
import { type FirstSecrets, makeFirstSecrets, openOrClose, upgradingStore } from './open-academy.ts'
import {
  allowedHosts,
  checkRawRequest,
  entryOf,
  type ParserError,
  refusalOfRaw,
  sendRaw,
  sendRefusal,
} from './raw-request.ts'
import { queueRequests } from './request-queue.ts'
import {
  type ConnectionCap,
  capConnections,
  createSocketServer,
  defaultCap,
  slowClientTimeouts,
  strictTransportOf,
  type TlsFiles,
} from './socket-server.ts'

/** Options for serving an academy on a socket. */
export interface ServeOptions {
  /** Database file; created if it is missing. */
  readonly path: string
  /** PostgreSQL database to serve instead of a file. */
  readonly postgres?: PostgresOptions | undefined
  /** File of the key that encrypts secrets on PostgreSQL; without one, none can be stored there. */
  readonly encryptionKeyFile?: string | undefined
  /** Hosts and networks that it may send requests to, besides public ones. */
  readonly webhookAllow?: readonly string[] | undefined
  /** Variables with proxies for outgoing requests; none by default. */
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
  /** Host names that requests may have, besides the loopback ones. */
  readonly allowHosts: readonly string[]
  readonly publicUrl: string | undefined
  /** Origins whose pages may read responses (Fetch standard, CORS). */
  readonly corsOrigins: readonly string[]
  /** Requests per minute for each user; 0 for no limit. */
  readonly perMinute: number
  /** Trusted proxies, by address or network. */
  readonly trustedProxies?: readonly string[]
  /** Serve https with this certificate; plain http without. */
  readonly tls?: TlsFiles | undefined
  /** Create a password for the first admin if there is none; takes a tenth of a second. */
  readonly firstPassword?: boolean
  /** Cost of checking a password; default a tenth of a second. */
  readonly passwordCost?: PasswordCost | undefined
  /** Create an admin key also for an existing academy. */
  readonly adminKey?: boolean
  /** The academy ends with its process: writes do not wait for the disk. */
  readonly temporary?: boolean
  /** Called with one entry per request, as `formatLog` formats it. */
  readonly writeLog: (line: string) => void
  /** Formats a log entry, LF included; default one line of JSON. */
  readonly formatLog?: (entry: LogEntry) => string
  readonly now?: () => Date
  /** Fixed time, ISO 8601, for reproducible tests. */
  readonly fixedTime?: string | undefined
  /** Generates the ids; default by time and randomness. */
  readonly ids?: IdMaker | undefined
  /** Observes a long upgrade, during which only the route `/health` is available. */
  readonly upgrade?: UpgradeWatch
  /** Maximum concurrent connections. */
  readonly connections?: ConnectionCap
  /** Timeouts of slow clients. */
  readonly timeouts?: typeof slowClientTimeouts
  /** Limits of exports and reports. */
  readonly longReads?: Partial<LongReadLimits>
}

/** A running server. */
export interface RunningServer extends FirstSecrets {
  /** Public URL. */
  readonly url: string
  /** URL that it listens on. */
  readonly address: string
  /** How far this machine's clock is ahead of the database's, in milliseconds; negative if it is behind. */
  readonly clockAheadMs: number
  /** Why stored secrets cannot be decrypted, a sentence; undefined if they can, or there are none. */
  readonly encryptionTrouble: string | undefined
  /** Refuses new requests with 503, completes the open ones within 30 s, then closes the database. */
  readonly stop: () => Promise<void>
}

type Listener = ReturnType<typeof nodeListener>

const drainMs = 30_000
const noTunnel = new ProblemError(
  'invalid_parameter',
  'The request is not valid HTTP/1.1: CONNECT is not supported.',
)
const tooManyConnections = unavailable('Too many connections from this address; close some and try again.', 5)
const tooManyAhead = new ProblemError('unavailable', 'Too many requests were sent before their answers.')
const stalledMs = 120_000

/** Serves an academy over HTTP; throws DatabaseError, and the listen error if the port is in use. */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  const { path, perMinute, writeLog, fixedTime, timeouts = slowClientTimeouts } = options
  const { now = () => (fixedTime === undefined ? new Date() : new Date(fixedTime)) } = options
  const newId = options.ids ?? idMaker(now)
  const { formatLog = logLine, passwordCost, publicUrl } = options
  const log = (entry: LogEntry) => writeLog(formatLog(entry))
  const [routes, webRoutes] = await Promise.all([allRoutes(), allWebRoutes()])
  const allowed = allowedHosts(options)
  let listener: Listener | undefined
  const opened = Promise.withResolvers<Listener>()
  let stopped: Promise<void> | undefined
  const strictTransport = strictTransportOf(options)
  const answer = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const secure = strictTransport(incoming.headers.host)
    for (const name in secure) outgoing.setHeader(name, secure[name] ?? '')
    const refusal = checkRawRequest(incoming, allowed)
    if (stopped) outgoing.setHeader('connection', 'close')
    if (refusal) sendRefusal(incoming, outgoing, refusal, newId('req'), now(), log)
    else if (listener) void listener(incoming, outgoing)
    else void opened.promise.then((open) => open(incoming, outgoing))
  }
  const overrun = () => log(entryOf(tooManyAhead, newId('req'), '', '', now()))
  const latest = new WeakMap<Duplex, ServerResponse>()
  const turns = queueRequests(answer, overrun)
  const server = createSocketServer(options.tls, timeouts, (incoming, outgoing) => {
    latest.set(incoming.socket, outgoing)
    turns(incoming, outgoing)
  })
  const drain = drainOf(server)
  server.timeout = stalledMs
  const refuseRaw = (refusal: ProblemError, socket: Duplex) =>
    sendRaw(refusal, socket, newId('req'), now(), log)
  const isTrusted = trustedAmong(options.trustedProxies ?? [])
  capConnections(server, options.connections ?? defaultCap, isTrusted, (socket) => {
    // During the TLS handshake, a plain response would be invalid.
    if (!options.tls) refuseRaw(tooManyConnections, socket)
    // Do not wait until the client has read it: the connection would count as open.
    socket.destroySoon()
  })
  server.on('clientError', (error: ParserError, socket) => {
    // A client that does not use TLS cannot be answered.
    const mute = error.code === 'ECONNRESET' || (options.tls && error.code?.startsWith('ERR_SSL'))
    // An invalid body is detected after the response to its head.
    const answered = latest.get(socket)
    if (mute || !socket.writable) socket.destroy()
    else if (answered?.headersSent && !answered.req.complete) socket.end(() => socket.destroy())
    else refuseRaw(refusalOfRaw(error), socket)
  })
  // By default Node closes a CONNECT without a response, and answers an unknown Expect without problem
  // details; an expectation may be ignored (RFC 9110 §10.1.1).
  server.on('connect', (_, socket) => refuseRaw(noTunnel, socket))
  server.on('checkExpectation', (incoming, outgoing) => server.emit('request', incoming, outgoing))
  // Listen first: if the port is in use, a new academy would lose its first key. Requests wait until the
  // database is open.
  await listen(server, options)
  const sealing = academySealing(options)
  const reach = { allow: options.webhookAllow, loopback: isForThisMachine(options), env: options.env }
  const outgoing = outgoingWhenNeeded(reach)
  const isClosing = () => stopped !== undefined
  const app = { now, newId, perMinute, publicUrl, log, passwordCost, sealing, outgoing, isClosing }
  const listenWith = (transport: Transport) => {
    listener = nodeListener(
      withCors(withContentCoding(transport), options.corsOrigins),
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
      clientAddressOf(options.trustedProxies ?? []),
    )
    opened.resolve(listener)
  }
  const { database, created } = await openOrClose(server, options, now, () => {
    if (!listener) listenWith(createApp({ ...app, database: upgradingStore() }, () => routes, webRoutes))
  })
  // Makes the store remember its files.
  database.requireFiles?.()
  const longReads = openLongReads(
    { path, postgres: options.postgres, publicUrl, fixedTime },
    { ...longReadLimits, ...options.longReads },
  )
  const outbox = serveOutbox({
    ...{ database, sealing, newId, now, reach },
    // Receivers compare the signature's time with their clock, so it is the real time even if the academy's
    // is fixed.
    ...(fixedTime !== undefined && { signedAt: () => new Date() }),
  })
  const { handle, ended } = trackWork(
    createApp({ ...app, database: outbox.database, longReads }, () => routes, webRoutes),
  )
  listenWith(handle)
  const stopUpkeep = keepInOrder(database, now)
  const stop = () => {
    stopped ??= Promise.all([drain(drainMs), outbox.stop()])
      .then(longReads.close)
      .then(stopUpkeep)
      .then(ended)
      .then(() => database.close())
    return stopped
  }
  try {
    const { firstPassword, adminKey = false } = options
    const wanted = { password: firstPassword === true, key: created || adminKey }
    const secrets = await makeFirstSecrets({ database, now, newId, passwordCost }, wanted)
    const address = urlOf(server, options)
    const ahead = await clockAheadMs(database, now)
    const encryptionTrouble = await database.read((view) => sealing.trouble(view))
    const url = options.publicUrl ?? address
    return { url, address, ...secrets, clockAheadMs: ahead, encryptionTrouble, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/**
 * True if only this machine can reach the server; then the server may send requests to this machine, too.
 * Other host names and proxies mean other clients.
 */
function isForThisMachine({ host, allowHosts, publicUrl, trustedProxies = [] }: ServeOptions): boolean {
  const isLocal = (name: string) => /^(localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/.test(name)
  const names = [host, ...allowHosts, ...(publicUrl === undefined ? [] : [new URL(publicUrl).hostname])]
  return names.every(isLocal) && trustedProxies.length === 0
}

async function listen(server: Server, { host, port }: ServeOptions): Promise<void> {
  await once(server.listen(port, host), 'listening')
}

function urlOf(server: Server, { host, tls }: ServeOptions): string {
  // A TCP server has an address object.
  const { port } = server.address() as AddressInfo
  return `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`
}
