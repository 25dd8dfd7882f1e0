import { lookup as systemLookup } from 'node:dns'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as tlsConnect } from 'node:tls'
import { type FindProxy, ProxySettingError, readProxies } from '../../codec/proxy.ts'
import { type AddressGuard, createAddressGuard, type Reach } from './address-guard.ts'
import { openTunnel, TunnelError } from './tunnel.ts'

export interface OutgoingRequest {
  readonly method: 'GET' | 'POST' | 'PATCH'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** From the DNS lookup to the last byte. */
  readonly timeoutMs: number
  /** Longer responses are cut. */
  readonly maximumBytes: number
  readonly signal?: AbortSignal
}

/** Redirects are not followed. */
export interface OutgoingResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
  /** The body was longer than `maximumBytes`. */
  readonly isCut: boolean
}

export type OutgoingTrouble =
  | 'forbidden_address'
  | 'unencrypted'
  | 'timeout'
  | 'not_found'
  | 'unreachable'
  | 'tls'
  | 'broken'

/** There was no response. The message is a clause in lower case and contains no secret. */
export class OutgoingError extends Error {
  override readonly name = 'OutgoingError'
  readonly trouble: OutgoingTrouble

  constructor(trouble: OutgoingTrouble, message: string, options?: ErrorOptions) {
    super(message, options)
    this.trouble = trouble
  }
}

/** Throws OutgoingError. */
export type Outgoing = (request: OutgoingRequest) => Promise<OutgoingResponse>

/**
 * Returns a function that sends requests within a reach. It checks the address of each connection, so a host that resolves
 * differently the second time (DNS rebinding) gains nothing.
 *
 * @param lookup resolves hosts; default: the system's
 */
export function createOutgoing(
  reach: Reach,
  lookup: LookupFunction = systemLookup as LookupFunction,
): Outgoing {
  const guard = createAddressGuard(reach)
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
  // Literal addresses are not looked up, so `guarded` does not check them.
  if (isIP(host) !== 0 && !isNamed && !guard.allowsAddress(host)) throw forbidden(host)
  const isPlain = protocol === 'http:'
  const ended = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])])
  const judging = isNamed ? lookup : guardLookup(lookup, guard, isPlain)
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
    // No agent: every connection is new, so its address is checked.
    const way = tunnel
      ? { defaultPort, createConnection: () => (isPlain ? tunnel : secure(tunnel, host)) }
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

function secure(socket: Socket, host: string): Socket {
  return tlsConnect({ socket, host, ...(isIP(host) === 0 && { servername: host }) })
}

/** Allowed and not public: plain http to it does not cross the Internet. */
function isTrusted(guard: AddressGuard, address: string): boolean {
  return guard.allowsAddress(address) && !publicOnly.allowsAddress(address)
}
const publicOnly = createAddressGuard({ loopback: false })

/** Finds allowed addresses only; for plain http, only those that are not public. */
function guardLookup(lookup: LookupFunction, guard: AddressGuard, isPlain: boolean): LookupFunction {
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
    // break closes the connection
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
