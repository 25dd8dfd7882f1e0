import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Transport } from '../../contract/http.ts'
import type { PasswordCost } from '../access/password.ts'
import { clockAheadMs } from '../database/clock.ts'
import { type IdMaker, idMaker } from '../database/id.ts'
import type { PostgresOptions } from '../database/postgres/reach-postgres.ts'
import { allEndpoints } from '../endpoints.ts'
import { createApp } from '../http/app.ts'
import { type LogEntry, logLine } from '../http/log.ts'
import { type LongReadLimits, longReadLimits, openLongReads } from '../long-reads/long-reads.ts'
import { outgoingWhenNeeded } from '../outgoing/outgoing-when-needed.ts'
import { ProblemError, unavailable } from '../problem/problem-error.ts'
import { allRoutes } from '../routes.ts'
import { academySealing } from '../sealing/academy-sealing.ts'
import type { UpgradeWatch } from '../upgrade/upgrade-watch.ts'
import { keepInOrder } from '../upkeep.ts'
import { serveOutbox } from '../webhooks/outbox/serve-outbox.ts'
import { clientAddressOf, trustedAmong } from './client-address.ts'
import { type ConnectionCap, capConnections, usualCap } from './connection-cap.ts'
import { withContentCoding } from './content-coding.ts'
import { withCors } from './cors.ts'
import { drainOf } from './drain.ts'
import { type FirstSecrets, makeFirstSecrets } from './first-secrets.ts'
import { followed } from './followed.ts'
import { inTurn } from './in-turn.ts'
import { nodeListener } from './node-adapter.ts'
import { openOrClose, upgradingStore } from './open-academy.ts'
import {
  allowedHosts,
  checkRawRequest,
  entryOf,
  type ParserError,
  refusalOfRaw,
  sendRaw,
  sendRefusal,
} from './raw-request.ts'
import { createSocketServer, slowClientTimeouts, strictTransportOf, type TlsFiles } from './socket-server.ts'

/** How to serve an academy on a socket. */
export interface ServeOptions {
  /** The database file; made where there is none. */
  readonly path: string
  /** The database on PostgreSQL that is served in place of a file. */
  readonly postgres?: PostgresOptions | undefined
  /** The file of the key that secrets are sealed with, on PostgreSQL; without one, none can be stored there. */
  readonly encryptionKeyFile?: string | undefined
  /** Hosts and networks that it may send requests to besides public ones. */
  readonly webhookAllow?: readonly string[] | undefined
  /** Variables to read proxies from, for requests to other systems; none unless given. */
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
  /** Host names that requests may carry besides the loopback ones. */
  readonly allowHosts: readonly string[]
  readonly publicUrl: string | undefined
  /** Origins whose pages may read answers (Fetch standard, CORS); none unless named. */
  readonly corsOrigins: readonly string[]
  /** Requests a minute for each user; 0 for no limit. */
  readonly perMinute: number
  /** Proxies, by address or network, that are believed when they tell where a request comes from. */
  readonly trustedProxies?: readonly string[]
  /** What to serve https with; plain http without. */
  readonly tls?: TlsFiles | undefined
  /** True to give the first admin a password where there is none, which takes a tenth of a second. */
  readonly firstPassword?: boolean
  /** What checking a password costs; a tenth of a second unless told otherwise. */
  readonly passwordCost?: PasswordCost | undefined
  /** True to make an admin key for an academy that is not new, too. */
  readonly adminKey?: boolean
  /** True for an academy that goes with its process: nothing waits for the disk. */
  readonly temporary?: boolean
  /** Gets one entry for each request, as `formatLog` writes it. */
  readonly writeLog: (line: string) => void
  /** An entry of the log as text, LF included; one line of JSON by default. */
  readonly formatLog?: (entry: LogEntry) => string
  readonly now?: () => Date
  /** The time that it always is, ISO 8601: for tests, whose results are to be the same each time. */
  readonly fixedTime?: string | undefined
  /** Makes the ids of the academy; by time and chance unless told otherwise. */
  readonly ids?: IdMaker | undefined
  /** Is told of an upgrade that takes long, during which no request but that of its health is answered. */
  readonly upgrade?: UpgradeWatch
  /** How many connections there may be at a time. */
  readonly connections?: ConnectionCap
  /** How long a slow client is waited for. */
  readonly timeouts?: typeof slowClientTimeouts
  /** What exports and reports may take of the server. */
  readonly longReads?: Partial<LongReadLimits>
}

/** An academy that is being served. */
export interface RunningServer extends FirstSecrets {
  /** By which others reach it. */
  readonly url: string
  /** Where it listens. */
  readonly address: string
  /** How far the clock of this machine is ahead of the database's, in milliseconds; negative where it is behind. */
  readonly clockAheadMs: number
  /** Why stored secrets cannot be opened, a sentence; undefined where they can, or there are none. */
  readonly encryptionTrouble: string | undefined
  /** Refuses new requests with 503, finishes the open ones within 30 s, then closes the database. */
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

/** Serves an academy over HTTP; throws DatabaseError, and the listen error of a port that is taken. */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  const { path, perMinute, writeLog, fixedTime, timeouts = slowClientTimeouts } = options
  const { now = () => (fixedTime === undefined ? new Date() : new Date(fixedTime)) } = options
  const newId = options.ids ?? idMaker(now)
  const { formatLog = logLine, passwordCost, publicUrl } = options
  const log = (entry: LogEntry) => writeLog(formatLog(entry))
  const [routes, endpoints] = await Promise.all([allRoutes(), allEndpoints()])
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
  const turns = inTurn(answer, overrun)
  const server = createSocketServer(options.tls, timeouts, (incoming, outgoing) => {
    latest.set(incoming.socket, outgoing)
    turns(incoming, outgoing)
  })
  const drain = drainOf(server)
  server.timeout = stalledMs
  const refuseRaw = (refusal: ProblemError, socket: Duplex) =>
    sendRaw(refusal, socket, newId('req'), now(), log)
  const isTrusted = trustedAmong(options.trustedProxies ?? [])
  capConnections(server, options.connections ?? usualCap, isTrusted, (socket) => {
    // In the middle of a handshake there is no word that it would understand.
    if (!options.tls) refuseRaw(tooManyConnections, socket)
    // Waiting for this one to read it would keep it among the open ones.
    socket.destroySoon()
  })
  server.on('clientError', (error: ParserError, socket) => {
    // What is no TLS cannot be answered in TLS.
    const mute = error.code === 'ECONNRESET' || (options.tls && error.code?.startsWith('ERR_SSL'))
    // What is wrong with the body of a request comes up after the head of it was answered.
    const answered = latest.get(socket)
    if (mute || !socket.writable) socket.destroy()
    else if (answered?.headersSent && !answered.req.complete) socket.end(() => socket.destroy())
    else refuseRaw(refusalOfRaw(error), socket)
  })
  // Node would close the one without a word, and answer the other without problem details: an expectation may be
  // ignored (RFC 9110 §10.1.1).
  server.on('connect', (_, socket) => refuseRaw(noTunnel, socket))
  server.on('checkExpectation', (incoming, outgoing) => server.emit('request', incoming, outgoing))
  // The port first: an academy that is made for nothing would have lost its first key. Requests that come before the
  // database is open wait for it.
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
    if (!listener) listenWith(createApp({ ...app, database: upgradingStore() }, () => routes, endpoints))
  })
  // Remembers which files it has.
  database.requireFiles?.()
  const longReads = openLongReads(
    { path, postgres: options.postgres, publicUrl, fixedTime },
    { ...longReadLimits, ...options.longReads },
  )
  const outbox = serveOutbox({
    ...{ database, sealing, newId, now, reach },
    // What a receiver compares with its own clock is the time, also where that of the academy stands still.
    ...(fixedTime !== undefined && { signedAt: () => new Date() }),
  })
  const { handle, ended } = followed(
    createApp({ ...app, database: outbox.database, longReads }, () => routes, endpoints),
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
 * True where nobody reaches the server but who is on this machine: then this machine may be what it reaches, too. Other names,
 * and proxies, are there for others.
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
  // A server that listens on host and port has an address object, not the path of a pipe.
  const { port } = server.address() as AddressInfo
  return `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`
}
