import { lookup as systemLookup } from 'node:dns'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as tlsConnect } from 'node:tls'
import { type FindProxy, ProxySettingError, readProxies } from '../../codec/proxy.ts'
import { type AddressGuard, addressGuard, type Reach } from './address-guard.ts'
import { openTunnel, TunnelError } from './tunnel.ts'

/** A request to another system. */
export interface OutgoingRequest {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** How long all of it may take, from looking up the name to the last byte. */
  readonly timeoutMs: number
  /** The most of a response that is read; what is longer is cut there. */
  readonly maximumBytes: number
  readonly signal?: AbortSignal
}

/** What another system answered. A redirect is an answer like any other: none is followed. */
export interface OutgoingResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
  /** True where there was more than was read. */
  readonly isCut: boolean
}

/** Why there was no answer. */
export type OutgoingTrouble =
  | 'forbidden_address'
  | 'unencrypted'
  | 'timeout'
  | 'not_found'
  | 'unreachable'
  | 'tls'
  | 'broken'

/** A request that got no answer; the message is a clause that begins in lower case, and names no secret. */
export class OutgoingError extends Error {
  override readonly name = 'OutgoingError'
  readonly trouble: OutgoingTrouble

  constructor(trouble: OutgoingTrouble, message: string, options?: ErrorOptions) {
    super(message, options)
    this.trouble = trouble
  }
}

/** Sends requests to other systems. Throws OutgoingError. */
export type Outgoing = (request: OutgoingRequest) => Promise<OutgoingResponse>

/**
 * Requests to where a server may connect to. The address is judged that the connection is made to: a name that leads
 * elsewhere at a second look-up leads nowhere.
 *
 * @param lookup finds the addresses of a host; the system unless told otherwise
 */
export function outgoingTo(reach: Reach, lookup: LookupFunction = systemLookup as LookupFunction): Outgoing {
  const guard = addressGuard(reach)
  const findProxy = readProxies(reach.env ?? {})
  return (request) => send(request, guard, lookup, findProxy)
}

async function send(
  { method, url, headers, body, timeoutMs, maximumBytes, signal }: OutgoingRequest,
  guard: AddressGuard,
  lookup: LookupFunction,
  findProxy: FindProxy,
): Promise<OutgoingResponse> {
  const { protocol, hostname, port } = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '')
  const isNamed = guard.allowsHost(host)
  // A literal address is connected to without looking it up.
  if (isIP(host) !== 0 && !isNamed && !guard.allowsAddress(host)) throw forbidden(host)
  const isPlain = protocol === 'http:'
  const ended = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])])
  const judging = isNamed ? lookup : guarded(lookup, guard, isPlain)
  const own = {
    method,
    lookup: judging,
    headers: {
      'accept-encoding': 'identity',
      'user-agent': 'learnctl',
      ...headers,
      ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
    },
    signal: ended,
  }
  if (isPlain && isIP(host) !== 0 && !isNamed && !isTrusted(guard, host)) throw unencrypted(host)
  try {
    const proxy = findProxy(new URL(url))
    const defaultPort = isPlain ? 80 : 443
    const end = { host, port: Number(port) || defaultPort, isNamed, lookup: judging }
    const tunnel = proxy && (await openTunnel(proxy, end, ended))
    // Each connection is judged, and none is kept.
    const way = tunnel
      ? { defaultPort, createConnection: () => (isPlain ? tunnel : secured(tunnel, host)) }
      : { agent: false as const }
    return await new Promise<OutgoingResponse>((resolve, reject) => {
      const outgoing = isPlain ? httpRequest(url, { ...own, ...way }) : httpsRequest(url, { ...own, ...way })
      outgoing.on('error', reject)
      outgoing.on('response', (response) => read(response, maximumBytes).then(resolve, reject))
      outgoing.end(body)
    })
  } catch (error) {
    throw signal?.aborted ? signal.reason : troubleOf(error, host, timeoutMs, ended.aborted)
  }
}

function secured(socket: Socket, host: string): Socket {
  return tlsConnect({ socket, host, ...(isIP(host) === 0 && { servername: host }) })
}

/** True for an address that a public one is not: nobody between here and there can listen. */
function isTrusted(guard: AddressGuard, address: string): boolean {
  return guard.allowsAddress(address) && !publicOnly.allowsAddress(address)
}
const publicOnly = addressGuard({ loopback: false })

/** Only the addresses that may be connected to; plain http only to those that are not public. */
function guarded(lookup: LookupFunction, guard: AddressGuard, isPlain: boolean): LookupFunction {
  return (host, options, done) => {
    lookup(host, { ...options, all: true }, (error, found) => {
      const all = Array.isArray(found) ? found : []
      const allowed = all.filter(({ address }) => guard.allowsAddress(address))
      const usable = isPlain ? allowed.filter(({ address }) => isTrusted(guard, address)) : allowed
      const [first] = usable
      if (error) done(error, '')
      else if (!first) done(allowed.length > 0 ? unencrypted(host) : forbidden(host), '')
      else if (options.all) done(null, usable)
      else done(null, first.address, first.family)
    })
  }
}

async function read(response: IncomingMessage, maximumBytes: number): Promise<OutgoingResponse> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of response) {
    const bytes: Buffer = piece
    pieces.push(bytes)
    size += bytes.length
    // Leaving the loop ends the connection.
    if (size > maximumBytes) break
  }
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: Buffer.concat(pieces).subarray(0, maximumBytes),
    isCut: size > maximumBytes,
  }
}

function forbidden(host: string): OutgoingError {
  return new OutgoingError('forbidden_address', `${host} is not a public address`)
}

function unencrypted(host: string): OutgoingError {
  return new OutgoingError('unencrypted', `${host} requires https: others could read what is sent over http`)
}

function troubleOf(error: unknown, host: string, timeoutMs: number, isLate: boolean): unknown {
  if (error instanceof OutgoingError) return error
  if (error instanceof TunnelError || error instanceof ProxySettingError) {
    return new OutgoingError('unreachable', error.message, { cause: error })
  }
  const { code = '' } = error as NodeJS.ErrnoException
  const options = { cause: error }
  if (isLate)
    return new OutgoingError('timeout', `${host} did not answer within ${timeoutMs / 1000} s`, options)
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return new OutgoingError('not_found', `host ${host} not found`, options)
  }
  if (/^(E[A-Z]+)$/.test(code) && code !== 'EPROTO' && code !== 'ECONNRESET') {
    return new OutgoingError('unreachable', `cannot connect to ${host}: ${code}`, options)
  }
  if (/CERT|^ERR_(TLS|SSL)|^EPROTO$|SIGNATURE|ISSUER/.test(code)) {
    return new OutgoingError('tls', `cannot verify the certificate of ${host}: ${code}`, options)
  }
  return new OutgoingError('broken', `${host} broke off the connection${code && `: ${code}`}`, options)
}
