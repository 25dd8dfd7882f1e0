import type { Fault } from '../contract/errors.ts'

/** Where an error happened: enough to name it in one line. */
export interface Target {
  readonly method: string
  readonly url: string
}

/** `academy.example:8443`, the part of an address that people recognise. */
export function hostOf({ url }: Target): string {
  return new URL(url).host
}

/** `GET /v1/courses`, the request line without the query. */
export function lineOf({ method, url }: Target): string {
  return `${method} ${new URL(url).pathname}`
}

/** What is known about an answer that is not a success. */
export interface Refusal {
  readonly status: number
  /** The API's code, or one made from the status where the answer had none. */
  readonly code: string
  /** True when the answer carried a code of this API: only then is it known what its status means. */
  readonly coded: boolean
  readonly detail: string
  readonly faults: readonly Fault[]
  /** The body as it came, null when it was not a JSON object. */
  readonly problem: Readonly<Record<string, unknown>> | null
  readonly requestId: string | null
  /** How long the server asks to wait (RFC 9110 §10.2.3), null when it does not say. */
  readonly retryAfterMs: number | null
  /** The scopes that it would have taken (RFC 6750 §3), as far as the server named any. */
  readonly neededScopes: readonly string[]
}

/** The API refused: a status from 400 on (RFC 9457 where the server knows it). */
export class ApiError extends Error implements Refusal {
  override readonly name = 'ApiError'
  readonly method: string
  readonly url: string
  readonly status: number
  readonly code: string
  readonly coded: boolean
  readonly detail: string
  readonly faults: readonly Fault[]
  readonly problem: Readonly<Record<string, unknown>> | null
  readonly requestId: string | null
  readonly retryAfterMs: number | null
  readonly neededScopes: readonly string[]

  constructor(target: Target, refusal: Refusal) {
    super(refusal.detail)
    this.method = target.method
    this.url = target.url
    this.status = refusal.status
    this.code = refusal.code
    this.coded = refusal.coded
    this.detail = refusal.detail
    this.faults = refusal.faults
    this.problem = refusal.problem
    this.requestId = refusal.requestId
    this.retryAfterMs = refusal.retryAfterMs
    this.neededScopes = refusal.neededScopes
  }
}

/** Why a connection failed; `cut_short`: the answer ended too early; `not_tls`: https was met by something else. */
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

/** The network failed: no answer, or only a part of one. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  readonly method: string
  readonly url: string
  readonly code: ConnectionCode

  constructor(target: Target, code: ConnectionCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.method = target.method
    this.url = target.url
    this.code = code
  }
}

/** Which wait was too long: for a connection, for the head of an answer, or for the next byte of it. */
export type TimeoutCode = 'connect_timeout' | 'first_byte_timeout' | 'idle_timeout'

const waits: Readonly<Record<TimeoutCode, (host: string, seconds: number) => string>> = {
  connect_timeout: (host, seconds) => `Connection to ${host} timed out after ${seconds} s`,
  first_byte_timeout: (host, seconds) => `${host} did not respond within ${seconds} s`,
  idle_timeout: (host, seconds) => `${host} stalled in the middle of its response (no data for ${seconds} s)`,
}

/** A time-out ended the attempt. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError'
  readonly method: string
  readonly url: string
  readonly code: TimeoutCode
  readonly timeoutMs: number

  constructor(target: Target, code: TimeoutCode, timeoutMs: number, cause?: unknown) {
    super(`${waits[code](hostOf(target), timeoutMs / 1000)} (${lineOf(target)})`, { cause })
    this.method = target.method
    this.url = target.url
    this.code = code
    this.timeoutMs = timeoutMs
  }
}

/** What made an answer one that this API would never give. */
export type ProtocolCode =
  | 'html'
  | 'not_json'
  | 'not_http'
  | 'too_large'
  | 'redirected'
  | 'unexpected_shape'
  | 'unexpected_type'
  | 'cursor_repeated'
  | 'foreign_link'

/** Something answered, but not this API. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
  readonly method: string
  readonly url: string
  readonly code: ProtocolCode

  constructor(target: Target, code: ProtocolCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.method = target.method
    this.url = target.url
    this.code = code
  }
}

/** The platform does not have this operation; `cause` is the answer that showed it. */
export class NotOfferedError extends Error {
  override readonly name = 'NotOfferedError'
  readonly code = 'not_offered'
  readonly method: string
  readonly url: string
  /** The operation's id, `courses.versions`. */
  readonly operation: string
  readonly status: number

  constructor(target: Target, operation: string, cause: ApiError) {
    super(`${hostOf(target)} does not support ${operation} (${lineOf(target)} returned ${cause.status})`, {
      cause,
    })
    this.method = target.method
    this.url = target.url
    this.operation = operation
    this.status = cause.status
  }
}

/** Nobody can say whether a POST had its effect: the fault in `cause` came after it was sent. */
export class AmbiguousError extends Error {
  override readonly name = 'AmbiguousError'
  readonly code = 'ambiguous'
  readonly method: string
  readonly url: string

  constructor(target: Target, cause: Error) {
    super(`${lineOf(target)} may have succeeded: ${cause.message}`, { cause })
    this.method = target.method
    this.url = target.url
  }
}

/** Why a request was never sent. */
export type RequestCode =
  | 'invalid_base_url'
  | 'invalid_path'
  | 'invalid_query'
  | 'invalid_body'
  | 'invalid_header'
  | 'insecure_http'

/** The request cannot be made from what was given; nothing was sent. */
export class RequestError extends Error {
  override readonly name = 'RequestError'
  readonly code: RequestCode

  constructor(code: RequestCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}
