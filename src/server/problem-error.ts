import { formatCount } from '../codec/display-text.ts'
import { type ErrorCode, type Fault, type Problem, phraseOf, statusOf } from '../contract/errors.ts'

/** The app converts it to problem details (RFC 9457). */
export class ProblemError extends Error {
  override readonly name = 'ProblemError'
  readonly code: ErrorCode
  readonly errors: readonly Fault[] | undefined
  /** Faults besides `errors`. */
  readonly more: number
  readonly members: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>

  constructor(
    code: ErrorCode,
    detail: string,
    more: {
      errors?: readonly Fault[]
      more?: number
      members?: Readonly<Record<string, unknown>>
      headers?: Readonly<Record<string, string>>
      cause?: unknown
    } = {},
  ) {
    super(detail, { cause: more.cause })
    this.code = code
    this.errors = more.errors
    this.more = more.more ?? 0
    this.members = more.members ?? {}
    this.headers = more.headers ?? {}
  }

  get status() {
    return statusOf[this.code]
  }
}

export function problemOf(error: ProblemError, instance: string, requestId: string): Problem {
  return {
    type: 'about:blank',
    title: phraseOf[error.status],
    status: error.status,
    detail: error.message,
    instance,
    code: error.code,
    requestId,
    ...error.members,
    ...(error.errors ? { errors: error.errors } : {}),
    ...(error.more > 0 ? { moreErrors: error.more } : {}),
  }
}

/** 404 for a resource in the path. */
export function notFound(kind: string, reference: string): ProblemError {
  return new ProblemError('not_found', notFoundDetail(kind, reference))
}

/** 404 for a resource in the body, with its place. */
export function parentNotFound(pointer: string, kind: string, reference: string): ProblemError {
  const detail = notFoundDetail(kind, reference)
  return new ProblemError('not_found', detail, { errors: [{ pointer, code: 'not_found', detail }] })
}

/** 408 for the log: the client has disconnected. */
export function clientGone(): ProblemError {
  return new ProblemError('request_timeout', 'The client closed the connection.')
}

/** 429 with Retry-After, at least a second. */
export function tooMany(what: string, seconds: number): ProblemError {
  const wait = Math.max(1, seconds)
  return new ProblemError('rate_limited', `Too many ${what}; try again in ${wait} s.`, {
    headers: { 'retry-after': String(wait) },
  })
}

/** 503 with Retry-After. */
export function unavailable(detail: string, seconds: number, cause?: unknown): ProblemError {
  return new ProblemError('unavailable', detail, { headers: { 'retry-after': String(seconds) }, cause })
}

/** 503 while the server shuts down. */
export function shuttingDown(): ProblemError {
  return unavailable('The server is shutting down.', 5)
}

/** 422; `more` is the number of further faults. */
export function invalid(errors: readonly Fault[], more = 0): ProblemError {
  const only = errors.every(({ code }) => code === 'read_only') ? 'read_only' : 'validation_failed'
  return new ProblemError(only, problemsIn(errors, more), { errors, more })
}

/** One sentence: the only fault, or their number and places. */
export function problemsIn(errors: readonly Fault[], more = 0): string {
  return sentence(errors.length === 1 ? errors.map(describe).join() : counted(errors, more))
}

function describe(fault: Fault): string {
  const { code, detail } = fault
  if (code !== 'unknown_field' && code !== 'unknown_parameter') return `${placeOf(fault)} ${detail}`
  const [, suggestion = ''] = detail.split(/(?=; did you mean)/)
  return `Unknown ${code === 'unknown_field' ? 'field' : 'parameter'}: ${placeOf(fault)}${suggestion}`
}

const maxNamedPlaces = 10

function counted(errors: readonly Fault[], more: number): string {
  const places = [...new Set(errors.map(placeOf))]
  const others = places.length + more - maxNamedPlaces
  const named = places.slice(0, maxNamedPlaces).join(', ')
  const rest = others > 0 ? ` and ${formatCount(others)} more places` : ''
  return `${formatCount(errors.length + more)} problems found: ${named}${rest}`
}

/** `#/modules/0/title` as `modules.0.title`; a parameter by its name. */
function placeOf({ pointer = '', parameter }: Fault): string {
  return parameter ?? (pointer.slice(2).replaceAll('/', '.') || 'The body')
}

/** `Course crs_1 not found.` */
export function notFoundDetail(kind: string, reference: string): string {
  return `${kind} ${reference} not found.`.replace(/^./, (letter) => letter.toUpperCase())
}

function sentence(text: string): string {
  return text.endsWith('?') ? text : `${text}.`
}
