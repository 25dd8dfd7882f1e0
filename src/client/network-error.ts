import { type HttpProxy, ProxySettingError } from '../codec/proxy.ts'
import type { HttpRequest } from '../contract/http.ts'
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
  /** Proxy of the request; null for none. */
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

/** Returns a proxy's response to CONNECT from undici's message; null for any other error. */
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
