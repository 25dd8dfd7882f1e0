import type { HttpRequest } from '../contract/http.ts'
import {
  type ConnectionCode,
  ConnectionError,
  hostOf,
  lineOf,
  ProtocolError,
  RequestError,
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

const sayings: Readonly<Record<ConnectionCode, (host: string, reason: string) => string>> = {
  refused: (host) => `Connection refused by ${host}; is the server running?`,
  unresolved: (host) => `Cannot resolve the host name of ${host}`,
  unreachable: (host) => `Cannot reach ${host}`,
  reset: (host) => `${host} closed the connection without a response`,
  cut_short: (host) => `The response from ${host} was cut short`,
  tls: (host, reason) => `Cannot establish a trusted TLS connection to ${host}: ${reason}`,
  not_tls: (host) => `${host} does not use TLS`,
  proxy: (host, reason) => `Cannot reach ${host} through the proxy: ${reason}`,
  failed: (host, reason) => `Connection to ${host} failed: ${reason}`,
}

/** OpenSSL's words where it got something that is no record of TLS, such as an answer in plain http. */
const notTls = /wrong version number|packet length too long|unknown protocol|http request/i

/** Where in an exchange a fault came up. */
export interface Moment {
  readonly part: 'head' | 'body'
  readonly connectTimeoutMs: number
}

/**
 * What a fault of the wire is called here: ConnectionError, TimeoutError, ProtocolError, or RequestError for a request
 * that cannot be written; the reason of an aborted signal as it is.
 */
export function faultOf(request: HttpRequest, fault: unknown, { part, connectTimeoutMs }: Moment): unknown {
  if (request.signal?.aborted) return request.signal.reason
  if (!(fault instanceof Error)) return fault
  const wireCode = 'code' in fault && typeof fault.code === 'string' ? fault.code : ''
  if (wireCode === 'UND_ERR_CONNECT_TIMEOUT' || wireCode === 'ETIMEDOUT') {
    return new TimeoutError(request, 'connect_timeout', connectTimeoutMs, fault)
  }
  if (/^(HPE_|UND_ERR_HEADERS_OVERFLOW$)/.test(wireCode) || fault.name === 'HTTPParserError') {
    return new ProtocolError(request, 'not_http', `${hostOf(request)} sent an invalid HTTP response`, fault)
  }
  const throughProxy = /\bproxy\b/i.test(fault.message)
  if (/^(UND_ERR_INVALID_ARG|ERR_INVALID_CHAR|ERR_INVALID_HTTP_TOKEN)$/.test(wireCode) && !throughProxy) {
    return new RequestError('invalid_header', `Cannot send the request: ${fault.message}`, fault)
  }
  const code = codeOf(wireCode, part, throughProxy, fault.message)
  // Node's advice on how to run Node helps nobody who runs something else.
  const [reason = ''] = fault.message.split('; if the root CA')
  return new ConnectionError(
    request,
    code,
    `${sayings[code](hostOf(request), reason)} (${lineOf(request)})`,
    fault,
  )
}

function codeOf(
  wireCode: string,
  part: 'head' | 'body',
  throughProxy: boolean,
  reason: string,
): ConnectionCode {
  if (part === 'body') return 'cut_short'
  if (/^(ERR_SSL_|EPROTO)/.test(wireCode) && notTls.test(reason)) return 'not_tls'
  if (/^(CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_)|SELF_SIGNED_CERT|^HOSTNAME_MISMATCH$/.test(wireCode))
    return 'tls'
  return connectionCodes[wireCode] ?? (throughProxy ? 'proxy' : 'failed')
}
