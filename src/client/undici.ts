import type { Dispatcher } from 'undici'
import { isLoopbackHost } from '../codec/network-address.ts'
import { type HttpProxy, ProxySettingError, readProxies } from '../codec/proxy.ts'
import type { HttpHeaders, HttpRequest, HttpResponse, Transport } from '../contract/http.ts'
import { version } from '../contract/version.ts'
import {
  type ConnectionCode,
  ConnectionError,
  hostOf,
  lineOf,
  ProtocolError,
  RequestError,
  type Target,
  TimeoutError,
} from './errors.ts'
import { acceptedCodings } from './timeout.ts'

type Environment = Readonly<Record<string, string | undefined>>

export interface UndiciOptions {
  readonly connectTimeoutMs?: number
  /** Variables to read HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY from; loopback addresses never use a proxy. */
  readonly env?: Environment
}

export type ClosableTransport = Transport & { close(): Promise<void> }

/**
 * Creates the network transport, with kept-alive HTTP/1.1 connections. Undici is loaded with the first request;
 * `close` drops every connection at once, also those in use.
 */
export function createUndiciTransport(options: UndiciOptions = {}): ClosableTransport {
  const dispatchers = new Map<HttpProxy | null, Promise<Dispatcher>>()
  const connectTimeoutMs = options.connectTimeoutMs ?? 5000
  const findProxy = readProxies(options.env ?? {})

  function dispatcherFor(proxy: HttpProxy | null): Promise<Dispatcher> {
    const dispatcher = dispatchers.get(proxy) ?? openDispatcher(proxy, connectTimeoutMs)
    dispatchers.set(proxy, dispatcher)
    return dispatcher
  }

  async function send(request: HttpRequest): Promise<HttpResponse> {
    const url = new URL(request.url)
    const { origin, hostname, pathname, search } = url
    let proxy: HttpProxy | null = null
    try {
      proxy = findProxy(url)
      const dispatcher = await dispatcherFor(proxy)
      const { statusCode, headers, body } = await dispatcher.request({
        origin,
        path: pathname + search,
        method: request.method as Dispatcher.HttpMethod,
        headers: { ...defaultHeaders(hostname), ...request.headers },
        // undici accepts iterables although its type does not say so (undici, lib/core/request.js).
        body: (request.body ?? null) as string | Uint8Array | null,
        signal: request.signal ?? null,
      })
      return { status: statusCode, headers: joinHeaders(headers), body: read(request, body, proxy) }
    } catch (error) {
      throw networkErrorOf(request, error, { part: 'head', connectTimeoutMs, proxy })
    }
  }

  async function* read(
    request: HttpRequest,
    body: AsyncIterable<Uint8Array>,
    proxy: HttpProxy | null,
  ): AsyncGenerator<Uint8Array> {
    try {
      yield* body
    } catch (error) {
      throw networkErrorOf(request, error, { part: 'body', connectTimeoutMs, proxy })
    }
  }

  async function close(): Promise<void> {
    const open = await Promise.all(dispatchers.values())
    dispatchers.clear()
    await Promise.all(open.map((dispatcher) => dispatcher.destroy()))
  }

  return Object.assign(send, { close })
}

/** No compression on loopback, where it costs more than it saves. */
export function defaultHeaders(hostname: string): HttpHeaders {
  const coding = isLoopbackHost(hostname) ? 'identity' : acceptedCodings
  return { 'accept-encoding': coding, 'user-agent': userAgent }
}

async function openDispatcher(proxy: HttpProxy | null, connectTimeoutMs: number): Promise<Dispatcher> {
  // The caller applies the other timeouts, for any transport.
  const options = { headersTimeout: 0, bodyTimeout: 0, allowH2: false }
  // Missing in its type (undici, lib/dispatcher/proxy-agent.js).
  const limits = { connectTimeout: connectTimeoutMs }
  const { Agent, Pool, ProxyAgent } = await import('undici')
  if (!proxy) return new Agent({ ...options, connect: { timeout: connectTimeoutMs } })
  return new ProxyAgent({
    ...options,
    uri: proxy.url,
    ...(proxy.authorization !== undefined && { token: proxy.authorization }),
    ...limits,
    // Limits the wait for the proxy's response to CONNECT to that for a connection.
    clientFactory: (origin, pool) => new Pool(origin, { ...pool, headersTimeout: connectTimeoutMs }),
  })
}

/** Names are in lower case, repeated headers joined into one line. */
export function joinHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): HttpHeaders {
  const lines: Record<string, string> = {}
  for (const name of Object.keys(headers)) {
    const value = headers[name]
    if (value !== undefined) lines[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value
  }
  return lines
}

/** RFC 9110 §10.1.5: `learnctl/1.2.3 (linux; node 24.1.0)`. */
export const userAgent = `learnctl/${version} (${process.platform}; node ${process.versions.node})`

const connectionCodes: Readonly<Record<string, ConnectionCode>> = {
  ECONNREFUSED: 'refused',
  ENOTFOUND: 'unresolved',
  EAI_AGAIN: 'unresolved',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  UND_ERR_DESTROYED: 'reset',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'cut_short',
  UND_ERR_PRX_TLS: 'proxy',
  UND_ERR_PRX_CONN: 'proxy',
  EPROTO: 'tls',
}

const messageByCode: Readonly<Record<ConnectionCode, (host: string, reason: string) => string>> = {
  refused: (host) => `Connection refused by ${host}; is the server running?`,
  unresolved: (host) => `Cannot resolve the host name of ${host}`,
  unreachable: (host) => `Cannot reach ${host}`,
  reset: (host) => `${host} closed the connection without a response`,
  cut_short: (host) => `The response from ${host} was cut short`,
  tls: (host, reason) => `Cannot establish a trusted TLS connection to ${host}: ${reason}`,
  not_tls: (host) => `${host} does not use TLS`,
  proxy: (host, reason) => `Cannot reach ${host} through a proxy: ${reason}`,
  failed: (host, reason) => `Connection to ${host} failed: ${reason}`,
}

const proxyMessageByCode: Partial<
  Record<ConnectionCode, (proxy: string, host: string, reason: string) => string>
> = {
  refused: (proxy) => `Connection refused by the proxy ${proxy}`,
  unresolved: (proxy) => `Cannot resolve the host name of the proxy ${proxy}`,
  unreachable: (proxy, host) => `Cannot reach ${host} through the proxy ${proxy}`,
  reset: (proxy, host) =>
    `The connection to ${host} through the proxy ${proxy} was closed without a response`,
  tls: (proxy, host, reason) =>
    `Cannot establish a trusted TLS connection to ${host} through the proxy ${proxy}: ${reason}`,
  proxy: (proxy, host, reason) => `Cannot reach ${host} through the proxy ${proxy}: ${reason}`,
}

/** OpenSSL's messages for data that is not TLS, such as a response in plain http. */
const notTls = /wrong version number|packet length too long|unknown protocol|http request/i

interface Moment {
  readonly part: 'head' | 'body'
  readonly connectTimeoutMs: number
  /** Null for none. */
  readonly proxy?: HttpProxy | null
}

/**
 * Converts a network error to ConnectionError, TimeoutError, ProtocolError, or RequestError for a request that cannot
 * be encoded or a proxy that cannot be used; returns the reason of an aborted signal as it is.
 */
export function networkErrorOf(request: HttpRequest, fault: unknown, moment: Moment): unknown {
  const { part, connectTimeoutMs, proxy = null } = moment
  if (request.signal?.aborted) return request.signal.reason
  if (!(fault instanceof Error)) return fault
  if (fault instanceof ProxySettingError)
    return new RequestError('invalid_proxy', fault.message, { cause: fault })
  // Errors are printed, so the credentials of the proxy are left out.
  const target: Target = proxy
    ? { ...request, proxy: { host: proxy.host, variable: proxy.variable } }
    : request
  const wireCode = 'code' in fault && typeof fault.code === 'string' ? fault.code : ''
  // Only the response to CONNECT has a time limit for its headers in undici.
  if (/^(UND_ERR_(CONNECT|HEADERS)_TIMEOUT|ETIMEDOUT)$/.test(wireCode)) {
    return new TimeoutError(target, 'connect_timeout', connectTimeoutMs, fault)
  }
  if (/^(HPE_|UND_ERR_HEADERS_OVERFLOW$)/.test(wireCode) || fault.name === 'HTTPParserError') {
    return new ProtocolError(request, 'not_http', `${hostOf(request)} sent an invalid HTTP response`, fault)
  }
  const refusal = proxy && proxyRefusalOf(proxy, request, fault)
  if (refusal)
    return new ConnectionError(target, refusal.code, `${refusal.saying} (${lineOf(request)})`, fault)
  if (/^(UND_ERR_INVALID_ARG|ERR_INVALID_CHAR|ERR_INVALID_HTTP_TOKEN)$/.test(wireCode)) {
    return new RequestError('invalid_header', `Cannot send the request: ${fault.message}`, {
      cause: fault,
    })
  }
  const code = codeOf(wireCode, part, fault.message)
  // Node's advice on command line options does not apply to users of this program.
  const [reason = ''] = fault.message.split('; if the root CA')
  const host = hostOf(request)
  const saying =
    (proxy && proxyMessageByCode[code]?.(proxy.host, host, reason)) ?? messageByCode[code](host, reason)
  return new ConnectionError(target, code, `${saying} (${lineOf(request)})`, fault)
}

/** Reads undici's message; null for any other error. */
function proxyRefusalOf(
  { host: proxy, variable, authorization }: HttpProxy,
  request: HttpRequest,
  { message }: Error,
): { readonly code: ConnectionCode; readonly saying: string } | null {
  const status = /^Proxy (?:response|Authentication Required) \((\d{3})\)/.exec(message)?.[1]
  if (status === undefined) return null
  if (status === '407') {
    const saying =
      authorization === undefined
        ? `The proxy ${proxy} requires a user name and password; set ${variable} to http://<user>:<password>@${proxy}`
        : `The proxy ${proxy} rejected the user name and password in ${variable}`
    return { code: 'proxy', saying }
  }
  return Number(status) >= 500
    ? {
        code: 'unreachable',
        saying: `The proxy ${proxy} cannot reach ${hostOf(request)}: it returned ${status}`,
      }
    : {
        code: 'proxy',
        saying: `The proxy ${proxy} refused to connect to ${hostOf(request)}: it returned ${status}`,
      }
}

function codeOf(wireCode: string, part: 'head' | 'body', reason: string): ConnectionCode {
  if (part === 'body') return 'cut_short'
  if (/^(ERR_SSL_|EPROTO)/.test(wireCode) && notTls.test(reason)) return 'not_tls'
  if (/^(CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_)|SELF_SIGNED_CERT|^HOSTNAME_MISMATCH$/.test(wireCode))
    return 'tls'
  return connectionCodes[wireCode] ?? 'failed'
}
