import type { Fault } from '../contract/errors.ts'
import type { HttpHeaders } from '../contract/http.ts'

export interface Target {
  readonly method: string
  readonly url: string
  /** Host and port of the proxy that the request goes through, and the variable that names it; undefined for none. */
  readonly proxy?: { readonly host: string; readonly variable: string } | undefined
}

export function hostOf({ url }: Target): string {
  return new URL(url).host
}

export function lineOf({ method, url }: Target): string {
  return `${method} ${new URL(url).pathname}`
}

export interface RawAnswer {
  readonly status: number
  readonly headers: HttpHeaders
  /** Its first 64 KiB, as text. */
  readonly body: string
}

export interface Refusal {
  readonly status: number
  /** Error code of the API, or one derived from the status if the response has none. */
  readonly code: string
  /** True if the response has an error code of this API; otherwise it may come from a proxy or another service. */
  readonly coded: boolean
  readonly detail: string
  readonly faults: readonly Fault[]
  /** The body of the response, null if it is not a JSON object. */
  readonly problem: Readonly<Record<string, unknown>> | null
  readonly requestId: string | null
  /** Value of `Retry-After` (RFC 9110 §10.2.3), null if absent. */
  readonly retryAfterMs: number | null
  /** Scopes that the request requires (RFC 6750 §3), empty if the server does not say. */
  readonly neededScopes: readonly string[]
  /** The response as received. */
  readonly answer: RawAnswer
}

abstract class RequestFailure extends Error {
  readonly method: string
  readonly url: string

  constructor({ method, url }: Target, message: string, options?: ErrorOptions) {
    super(message, options)
    this.method = method
    this.url = url
  }
}

/** The platform returned an error: a status of 400 or above, as problem details (RFC 9457) if it supports them. */
export class ApiError extends RequestFailure implements Refusal {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: string
  readonly coded: boolean
  readonly detail: string
  readonly faults: readonly Fault[]
  declare readonly problem: Readonly<Record<string, unknown>> | null
  readonly requestId: string | null
  readonly retryAfterMs: number | null
  readonly neededScopes: readonly string[]
  declare readonly answer: RawAnswer

  constructor(target: Target, refusal: Refusal) {
    super(target, refusal.detail)
    this.status = refusal.status
    this.code = refusal.code
    this.coded = refusal.coded
    this.detail = refusal.detail
    this.faults = refusal.faults
    this.requestId = refusal.requestId
    this.retryAfterMs = refusal.retryAfterMs
    this.neededScopes = refusal.neededScopes
    // Not enumerable: a printed error says nothing twice, and no header or record reaches a log.
    Object.defineProperties(this, { problem: { value: refusal.problem }, answer: { value: refusal.answer } })
  }
}

export function refusalOf(error: ApiError): Refusal {
  return { ...error, problem: error.problem, answer: error.answer }
}

/** Why a connection failed; `cut_short`: the response ended early; `not_tls`: the server does not use TLS. */
export type ConnectionCode =
  | 'refused'
  | 'unresolved'
  | 'unreachable'
  | 'reset'
  | 'cut_short'
  | 'tls'
  | 'not_tls'
  | 'proxy'
  | 'failed'

/** The connection failed: no response, or only part of one. */
export class ConnectionError extends RequestFailure {
  override readonly name = 'ConnectionError'
  readonly code: ConnectionCode
  readonly proxy: NonNullable<Target['proxy']> | null

  constructor(target: Target, code: ConnectionCode, message: string, cause?: unknown) {
    super(target, message, { cause })
    this.proxy = target.proxy ?? null
    this.code = code
  }
}

/** Which timeout was exceeded: for the connection, for the start of the response, or for more of its data. */
export type TimeoutCode = 'connect_timeout' | 'first_byte_timeout' | 'idle_timeout'

const timeoutMessages: Readonly<Record<TimeoutCode, (host: string, seconds: number) => string>> = {
  connect_timeout: (host, seconds) => `Connection to ${host} timed out after ${seconds} s`,
  first_byte_timeout: (host, seconds) => `${host} did not respond within ${seconds} s`,
  idle_timeout: (host, seconds) => `${host} stalled in the middle of its response (no data for ${seconds} s)`,
}

/** The attempt exceeded a timeout. */
export class TimeoutError extends RequestFailure {
  override readonly name = 'TimeoutError'
  readonly code: TimeoutCode
  readonly timeoutMs: number
  readonly proxy: NonNullable<Target['proxy']> | null

  constructor(target: Target, code: TimeoutCode, timeoutMs: number, cause?: unknown) {
    const via = target.proxy ? ` through the proxy ${target.proxy.host}` : ''
    const message = timeoutMessages[code](hostOf(target) + via, timeoutMs / 1000)
    super(target, `${message} (${lineOf(target)})`, { cause })
    this.proxy = target.proxy ?? null
    this.code = code
    this.timeoutMs = timeoutMs
  }
}

/** Why a response is not a valid response of this API. */
export type ProtocolCode =
  | 'html'
  | 'not_json'
  | 'not_http'
  | 'too_large'
  | 'redirected'
  | 'unknown_encoding'
  | 'bad_encoding'
  | 'not_described'
  | 'not_filtered'
  | 'not_sorted'
  | 'invalid_row'
  | 'not_set'
  | 'unexpected_shape'
  | 'unexpected_type'
  | 'cursor_repeated'
  | 'incomplete'
  | 'foreign_link'
  | 'not_shown'

/** There was a response, but not a valid one of this API: the URL may be wrong. */
export class ProtocolError extends RequestFailure {
  override readonly name = 'ProtocolError'
  readonly code: ProtocolCode
  /** The response as received; null if it was not read. */
  declare readonly answer: RawAnswer | null

  constructor(target: Target, code: ProtocolCode, message: string, cause?: unknown, answer?: RawAnswer) {
    super(target, message, { cause })
    this.code = code
    Object.defineProperty(this, 'answer', { value: answer ?? null })
  }
}

/** A response of another platform is not as the published form, or the file of the platform, describes it. */
export class PlatformError extends ProtocolError {
  /** Line of a platform file that would describe it (docs/platforms.md). */
  readonly line: string

  constructor(
    target: Target,
    message: string,
    line: string,
    code: ProtocolCode = 'not_described',
    answer?: RawAnswer,
  ) {
    super(target, code, message, undefined, answer)
    this.line = line
  }
}

export function answerBehind(error: unknown): RawAnswer | null {
  if (error instanceof ApiError) return error.answer
  if (error instanceof ProtocolError && error.answer) return error.answer
  return error instanceof Error && error.cause !== undefined ? answerBehind(error.cause) : null
}

/** The platform does not support this operation; `cause` is the error response, if it was asked. */
export class NotOfferedError extends RequestFailure {
  override readonly name = 'NotOfferedError'
  readonly code = 'not_offered'
  /** The operation's id, `courses.versions`. */
  readonly operation: string
  readonly status: number

  /** @param cause null if the file of the platform says that it does not offer the operation */
  constructor(target: Target, operation: string, cause: ApiError | null) {
    const why = cause
      ? `${lineOf(target)} returned ${cause.status}`
      : 'its platform file says that it is not offered'
    super(target, `${hostOf(target)} does not support ${operation} (${why})`, { cause })
    this.operation = operation
    this.status = cause?.status ?? 501
  }
}

/** A POST may or may not have succeeded: it failed after it was sent, with `cause`. */
export class AmbiguousError extends RequestFailure {
  override readonly name = 'AmbiguousError'
  readonly code = 'ambiguous'

  constructor(target: Target, cause: Error) {
    super(target, `${lineOf(target)} may have succeeded: ${cause.message}`, { cause })
  }
}

export type RequestCode =
  | 'invalid_base_url'
  | 'invalid_path'
  | 'invalid_query'
  | 'invalid_body'
  | 'invalid_header'
  | 'insecure_http'
  | 'invalid_proxy'
  | 'not_resolved'
  | 'version_unknown'
  | 'precondition_failed'

export interface RequestErrorOptions extends ErrorOptions {
  /** Reasons, each a sentence. */
  readonly why?: readonly string[]
  /** Noun of the record that a reference is about, such as `course`. */
  readonly noun?: string
}

/** The input is invalid, or the platform cannot take it; nothing was sent. */
export class RequestError extends Error {
  override readonly name = 'RequestError'
  readonly code: RequestCode
  readonly why: readonly string[]
  readonly noun: string | null

  constructor(code: RequestCode, message: string, options: RequestErrorOptions = {}) {
    super(message, options)
    this.code = code
    this.why = options.why ?? []
    this.noun = options.noun ?? null
  }
}

const recordCodes: ReadonlySet<string> = new Set([
  ...['not_shown', 'not_set'],
  ...['not_resolved', 'version_unknown', 'precondition_failed'],
])

/** True for an error about one record, which says nothing about other writes. */
export function isAboutRecord({ code }: ProtocolError | RequestError): boolean {
  return recordCodes.has(code)
}

/** True for problem details of a server like ours, which itself resolves references and honours If-Match. */
export function isOurs({ coded, problem }: ApiError): boolean {
  return coded && problem?.['type'] === 'about:blank' && String(problem['requestId']).startsWith('req_')
}
