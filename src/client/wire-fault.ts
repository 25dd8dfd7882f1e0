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

const sayings: Readonly<Record<ConnectionCode, string>> = {
  refused: 'refused the connection; is it running?',
  unresolved: 'cannot be found by that name',
  unreachable: 'cannot be reached from here',
  reset: 'dropped the connection without an answer',
  cut_short: 'ended its answer before it was whole; the answer was cut short',
  tls: 'could not be trusted',
  proxy: 'cannot be reached through the proxy',
  failed: 'could not be talked to',
}

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
  if (fault.name === 'HTTPParserError' || wireCode === 'UND_ERR_HEADERS_OVERFLOW') {
    return new ProtocolError(request, 'not_http', `${hostOf(request)} does not speak HTTP properly`, fault)
  }
  const throughProxy = /\bproxy\b/i.test(fault.message)
  if (wireCode === 'UND_ERR_INVALID_ARG' && !throughProxy) {
    return new RequestError('invalid_header', `the request cannot be sent: ${fault.message}`, fault)
  }
  const code = codeOf(wireCode, part, throughProxy)
  const more = code === 'tls' || code === 'proxy' || code === 'failed' ? `: ${fault.message}` : ''
  return new ConnectionError(
    request,
    code,
    `${hostOf(request)} ${sayings[code]}${more} (${lineOf(request)})`,
    fault,
  )
}

function codeOf(wireCode: string, part: 'head' | 'body', throughProxy: boolean): ConnectionCode {
  if (part === 'body') return 'cut_short'
  if (/^(CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_)|SELF_SIGNED_CERT|^HOSTNAME_MISMATCH$/.test(wireCode))
    return 'tls'
  return connectionCodes[wireCode] ?? (throughProxy ? 'proxy' : 'failed')
}
