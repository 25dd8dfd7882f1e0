import { type LookupAddress, type LookupAllOptions, lookup } from 'node:dns'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import type { buildConnector, Dispatcher, request } from 'undici'
import { isLoopbackHost } from '../../codec/network-address.ts'
import type { FindProxy, HttpProxy } from '../../codec/proxy.ts'
import { createAddressGuard, type Reach } from './address-guard.ts'

/** The message begins with the host or address. */
export class RefusedTarget extends Error {
  override readonly name = 'RefusedTarget'
}

type Options = Omit<NonNullable<Parameters<typeof request>[1]>, 'dispatcher'>

/** Redirects are responses. Throws network errors and RefusedTarget. */
export interface GuardedClient {
  send(url: string, options: Options): Promise<Dispatcher.ResponseData<unknown>>
  close(): Promise<void>
}

/**
 * Opens a client that sends to the allowed targets, through their proxy. Loads its code with the first request.
 *
 * @param keepAliveMs time for which an idle connection stays open; 0 to close each
 */
export function openGuardedClient(
  targets: Targets,
  keepAliveMs: number,
  findProxy?: FindProxy,
  resolve?: Resolve,
): GuardedClient {
  let opened: ReturnType<typeof open> | undefined

  async function open() {
    const { Agent, buildConnector, request } = await import('undici')
    const dispatcher = new Agent({
      connect: createGuardedConnect(targets, buildConnector, resolve, findProxy),
      allowH2: false,
      pipelining: keepAliveMs > 0 ? 1 : 0,
      ...(keepAliveMs > 0 && { keepAliveTimeout: keepAliveMs, keepAliveMaxTimeout: keepAliveMs }),
      // The caller's signal ends the complete request.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    return { dispatcher, request }
  }

  return {
    async send(url, options) {
      const refusal = targets.refusalOf(new URL(url))
      if (refusal !== undefined) throw new RefusedTarget(refusal)
      opened ??= open()
      const { dispatcher, request } = await opened
      return request(url, { ...options, dispatcher })
    },
    async close() {
      if (opened) await (await opened).dispatcher.destroy()
    },
  }
}

interface Beginning {
  readonly bytes: Buffer
  readonly isCut: boolean
  /** Undefined unless the body broke off. */
  readonly fault: unknown
}

export async function readBeginning(
  body: AsyncIterable<Uint8Array>,
  maximumBytes: number,
): Promise<Beginning> {
  const pieces: Uint8Array[] = []
  let size = 0
  let fault: unknown
  try {
    for await (const piece of body) {
      pieces.push(piece)
      size += piece.length
      // break closes the connection
      if (size > maximumBytes) break
    }
  } catch (error) {
    fault = error
  }
  return { bytes: Buffer.concat(pieces).subarray(0, maximumBytes), isCut: size > maximumBytes, fault }
}

/** All addresses of a host, as `dns.lookup` does. */
export type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

const connectMs = 10_000

/** Checks each connection's address, also through a proxy: a host cannot resolve differently the second time. */
function createGuardedConnect(
  targets: Targets,
  build: typeof buildConnector,
  resolve: Resolve = lookup,
  findProxy: FindProxy = () => null,
): buildConnector.connector {
  const connectors = new Map(
    ['http:', 'https:'].map((protocol) => [
      protocol,
      build({
        ...{ timeout: connectMs, allowH2: false },
        lookup: createGuardedLookup(targets, protocol, resolve),
      } as Parameters<typeof build>[0]),
    ]),
  )
  const connect: buildConnector.connector = (options, callback) => {
    const { protocol, hostname } = options
    // An address needs no lookup.
    const literal = addressIn(hostname)
    const refusal = literal && targets.refusalAt(protocol, hostname, literal)
    if (refusal) return callback(new RefusedTarget(refusal), null)
    connectors.get(protocol)?.(options, (...[error, socket]) => {
      if (error) return callback(error, null)
      const { remoteAddress } = socket
      const mismatch =
        remoteAddress === undefined
          ? 'The connection is gone'
          : targets.refusalAt(protocol, hostname, remoteAddress)
      if (mismatch === undefined) return callback(null, socket)
      socket.destroy()
      callback(new RefusedTarget(mismatch), null)
    })
  }

  async function openTunnelFor({ protocol, hostname, port }: buildConnector.Options) {
    const proxy = findProxy(new URL(`${protocol}//${hostname}:${port}`))
    const literal = addressIn(hostname)
    const host = literal ?? hostname
    const refusal = literal && targets.refusalAt(protocol, hostname, literal)
    if (!proxy || refusal) return null
    const end = {
      host,
      port: Number(port) || (protocol === 'https:' ? 443 : 80),
      isNamed: targets.isNamed(hostname),
      lookup: createGuardedLookup(targets, protocol, resolve),
    }
    return openTunnel(proxy, end, AbortSignal.timeout(connectMs))
  }

  return (options, callback) => {
    openTunnelFor(options).then(
      (socket) => {
        if (!socket) connect(options, callback)
        else if (options.protocol === 'http:') callback(null, socket)
        else connectors.get(options.protocol)?.({ ...options, httpSocket: socket }, callback)
      },
      (error) => callback(error, null),
    )
  }
}

function createGuardedLookup(targets: Targets, protocol: string, resolve: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    // Resolves all addresses, to check each, even if only one is requested.
    const { family, hints } = options
    const asked = { ...(family !== undefined && { family }), ...(hints !== undefined && { hints }) }
    resolve(hostname, { ...asked, all: true }, (error, addresses) => {
      if (error) return callback(error, [])
      const [refusal] = addresses.flatMap(
        ({ address }) => targets.refusalAt(protocol, hostname, address) ?? [],
      )
      const allowed = addresses.filter(
        ({ address }) => targets.refusalAt(protocol, hostname, address) === undefined,
      )
      const [first] = allowed
      if (!first) return callback(new RefusedTarget(refusal ?? `${hostname} has no address`), [])
      if (options.all) callback(null, allowed)
      else callback(null, first.address, first.family)
    })
  }
}

export interface Targets {
  /** For any address of the host; undefined if that depends on the address. */
  refusalOf(url: URL): string | undefined
  /** Undefined if it is allowed. */
  refusalAt(protocol: string, hostname: string, address: string): string | undefined
  /** Allowed at any address. */
  isNamed(hostname: string): boolean
}

const publicAlone = createAddressGuard({ loopback: false })

/** Public targets require https. */
export function targetsOf(reach: Reach): Targets {
  const guard = createAddressGuard(reach)

  function refusalAt(protocol: string, hostname: string, address: string): string | undefined {
    if (guard.allowsHost(hostname)) return undefined
    if (!guard.allowsAddress(address)) return `${address} is not a public address`
    const isOwn = !publicAlone.allowsAddress(address)
    return protocol === 'https:' || isOwn ? undefined : `${hostname} requires https`
  }

  return {
    refusalOf({ protocol, hostname }) {
      if (!/^https?:$/.test(protocol)) return `${protocol} is not supported`
      const address = addressIn(hostname)
      return address === undefined ? undefined : refusalAt(protocol, hostname, address)
    },
    refusalAt,
    isNamed: guard.allowsHost,
  }
}

/** Without the brackets of IPv6; undefined for a name. */
function addressIn(hostname: string): string | undefined {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1')
  return isIP(bare) === 0 ? undefined : bare
}

/** The message is a clause in lower case and contains no secret. */
export class TunnelError extends Error {
  override readonly name = 'TunnelError'
}

interface TunnelEnd {
  /** Without the brackets of IPv6. */
  readonly host: string
  readonly port: number
  /** Allowed at any address. */
  readonly isNamed: boolean
  readonly lookup: LookupFunction
}

/**
 * Null if the host resolves to loopback, which the proxy would take for itself. The proxy gets the checked address,
 * because it could resolve the name differently; it resolves hosts allowed by name itself. Throws TunnelError, errors of
 * the lookup, and the reason of an aborted signal.
 */
async function openTunnel(proxy: HttpProxy, end: TunnelEnd, signal: AbortSignal): Promise<Socket | null> {
  const { host, port, isNamed, lookup } = end
  const address = isNamed || isIP(host) !== 0 ? host : await addressOf(host, lookup)
  return isLoopbackHost(address.includes(':') ? `[${address}]` : address)
    ? null
    : connectThrough(proxy, address, port, signal)
}

function addressOf(host: string, lookup: LookupFunction): Promise<string> {
  return new Promise((resolve, reject) => {
    lookup(host, { all: false }, (error, address) => (error ? reject(error) : resolve(String(address))))
  })
}

/** RFC 9110 §9.3.6. */
function connectThrough(proxy: HttpProxy, host: string, port: number, signal: AbortSignal): Promise<Socket> {
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`
  const send = proxy.url.startsWith('https:') ? httpsRequest : httpRequest
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  const connect = send(proxy.url, {
    method: 'CONNECT',
    path: authority,
    agent: false,
    signal,
    headers: {
      host: authority,
      ...(proxy.authorization !== undefined && { 'proxy-authorization': proxy.authorization }),
    },
  })
  connect.on('connect', ({ statusCode }, socket, head) => {
    // Data before the first request is not from the target.
    if (statusCode === 200 && head.length === 0) return resolve(socket as Socket)
    socket.destroy()
    return reject(
      new TunnelError(
        `the proxy ${proxy.host} refused to connect to ${authority}: it returned ${statusCode}`,
      ),
    )
  })
  connect.on('error', (error: NodeJS.ErrnoException) => {
    const reason = new TunnelError(`cannot connect to the proxy ${proxy.host}: ${error.code}`, {
      cause: error,
    })
    reject(signal.aborted ? signal.reason : reason)
  })
  connect.end()
  return promise
}
