import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { LogEntry } from '../http/log.ts'
import { everyHeader, maxUrlBytes } from '../http/request-context.ts'
import { ProblemError, problemOf } from '../problem-error.ts'
import { send } from './node-adapter.ts'

const single: readonly string[] = ['host', 'authorization', 'content-type']
/** Time for a refused client to read the response. */
const farewellMs = 1_000
const maxHeadBytes = 16 * 1024
const loopback = ['localhost', '127.0.0.1', '[::1]']

/** Without ports. */
export function allowedHostsOf({
  host,
  allowHosts,
  publicUrl,
}: {
  host: string
  allowHosts: readonly string[]
  publicUrl: string | undefined
}): ReadonlySet<string> {
  const literal = host.includes(':') ? `[${host}]` : host
  const bound = ['0.0.0.0', '[::]'].includes(literal) ? [] : [literal]
  const named = publicUrl === undefined ? [] : [new URL(publicUrl).hostname]
  return new Set([...loopback, ...bound, ...allowHosts, ...named].map((name) => name.toLowerCase()))
}

/**
 * Refuses repeated headers (Node silently takes the first), and a Host, or the authority of an absolute-form target, of
 * another server, as in DNS rebinding (RFC 9112 §3.2, RFC 9110 §15.5.20).
 */
export function checkRawRequest(
  incoming: IncomingMessage,
  allowed: ReadonlySet<string>,
): ProblemError | undefined {
  const repeated = single.find((name) => isRepeated(incoming.rawHeaders, name))
  if (repeated) return new ProblemError('duplicate_header', `Header ${repeated} must be sent only once.`)
  if (incoming.headers.host === undefined) {
    return new ProblemError('invalid_parameter', 'The Host header is required.')
  }
  const { 'transfer-encoding': transfer } = incoming.headers
  if (transfer !== undefined && transfer.toLowerCase() !== 'chunked') {
    // Node decodes chunked and ignores other codings (RFC 9112 §6.1).
    const detail = `Transfer-Encoding ${transfer} is not supported; use chunked.`
    return new ProblemError('invalid_parameter', detail)
  }
  const hosts = [incoming.headers.host]
  const target = incoming.url ?? '/'
  if (!target.startsWith('/')) {
    const absolute = URL.canParse(target) ? new URL(target) : undefined
    hosts.push(absolute?.host ?? (target === '*' ? incoming.headers.host : ''))
    incoming.url = absolute ? absolute.pathname + absolute.search : '/*'
  }
  // Most hosts equal an allowed one after removing the port, which avoids parsing.
  const foreign = hosts.find(
    (host) => !allowed.has(host.replace(/:[1-5]?\d{1,4}$/, '')) && !allowed.has(hostnameOf(host)),
  )
  if (foreign === undefined) return refusalOfPath(incoming.url ?? '/')
  const detail = `Host ${JSON.stringify(foreign)} is not allowed; start the server with --allow-host to add it.`
  return new ProblemError('misdirected_request', detail)
}

/**
 * Refuses a backslash in the path: some programs read it as a slash (URL Standard §4.4), so the path would be
 * ambiguous.
 */
function refusalOfPath(target: string): ProblemError | undefined {
  if (!/^[^?]*\\/.test(target)) return undefined
  return new ProblemError('invalid_parameter', 'The path cannot contain a backslash.')
}

/** Names and values alternate in Node's raw headers. */
function isRepeated(raw: readonly string[], name: string): boolean {
  let seen = false
  for (let index = 0; index < raw.length; index += 2) {
    const other = raw[index] ?? ''
    if (other.length !== name.length || other.toLowerCase() !== name) continue
    if (seen) return true
    seen = true
  }
  return false
}

function hostnameOf(host: string): string {
  return /^[^/?#@\\\s]+$/.test(host) && URL.canParse(`http://${host}`)
    ? new URL(`http://${host}`).hostname
    : ''
}

export function sendRefusal(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  refusal: ProblemError,
  requestId: string,
  now: Date,
  log: (entry: LogEntry) => void,
): void {
  const path = incoming.url?.split('?', 1)[0] ?? '/'
  const body = JSON.stringify(problemOf(refusal, path, requestId))
  void send({ status: refusal.status, headers: headersOf(refusal, requestId), body }, incoming, outgoing)
  log(entryOf(refusal, requestId, incoming.method ?? '', path, now))
}

export function refusalOfRaw(error: ParserError): ProblemError {
  const { code, message, rawPacket } = error
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new ProblemError('request_timeout', 'The request took too long to arrive.')
  }
  if (code !== 'HPE_HEADER_OVERFLOW') {
    return new ProblemError('invalid_parameter', `The request is not valid HTTP/1.1: ${message}.`)
  }
  const head = rawPacket?.toString('latin1', 0, maxHeadBytes) ?? ''
  if (/^[A-Z]+ [^ \r\n]*$/.test(head)) {
    return new ProblemError('uri_too_long', `The path and query are longer than ${maxUrlBytes} bytes.`)
  }
  const detail = 'The request has more than 1,000 headers, or they are larger than 16 KiB.'
  return new ProblemError('headers_too_large', detail)
}

export interface ParserError extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer
}

export function sendRaw(
  refusal: ProblemError,
  socket: Duplex,
  requestId: string,
  now: Date,
  log: (entry: LogEntry) => void,
): void {
  const body = JSON.stringify(problemOf(refusal, '/', requestId))
  const headers = { ...headersOf(refusal, requestId), 'content-length': String(Buffer.byteLength(body)) }
  const lines = Object.entries({ ...headers, connection: 'close' }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  socket.end(
    `HTTP/1.1 ${refusal.status} ${problemOf(refusal, '/', '').title}\r\n${lines.join('')}\r\n${body}`,
  )
  setTimeout(() => socket.destroy(), farewellMs).unref()
  log(entryOf(refusal, requestId, '', '', now))
}

function headersOf({ headers }: ProblemError, requestId: string): Record<string, string> {
  return { ...everyHeader, ...headers, 'content-type': 'application/problem+json', 'x-request-id': requestId }
}

function entryOf(
  refusal: ProblemError,
  requestId: string,
  method: string,
  path: string,
  now: Date,
): LogEntry {
  const { status, code } = refusal
  return { time: now.toISOString(), requestId, method, path, status, durationMs: 0, code }
}
