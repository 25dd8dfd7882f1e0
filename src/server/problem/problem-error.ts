import { type ErrorCode, type Fault, type Problem, phraseOf, statusOf } from '../../contract/errors.ts'

/** A refusal with its code; the app turns it into problem details (RFC 9457). */
export class ProblemError extends Error {
  override readonly name = 'ProblemError'
  readonly code: ErrorCode
  readonly errors: readonly Fault[] | undefined
  /** Members of the problem that the code needs beside the text. */
  readonly members: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>

  constructor(
    code: ErrorCode,
    detail: string,
    more: {
      errors?: readonly Fault[]
      members?: Readonly<Record<string, unknown>>
      headers?: Readonly<Record<string, string>>
      cause?: unknown
    } = {},
  ) {
    super(detail, { cause: more.cause })
    this.code = code
    this.errors = more.errors
    this.members = more.members ?? {}
    this.headers = more.headers ?? {}
  }

  get status() {
    return statusOf[this.code]
  }
}

/** The body of a refusal: problem details for this request. */
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
  }
}

/** 404 for something named in the path. */
export function notFound(kind: string, reference: string): ProblemError {
  return new ProblemError('not_found', notFoundDetail(kind, reference))
}

/** 404 for something named in the body, with its place. */
export function parentNotFound(pointer: string, kind: string, reference: string): ProblemError {
  const detail = notFoundDetail(kind, reference)
  return new ProblemError('not_found', detail, { errors: [{ pointer, code: 'not_found', detail }] })
}

/** 422 with every fault of the body. */
export function invalid(errors: readonly Fault[]): ProblemError {
  const only = errors.every(({ code }) => code === 'read_only') ? 'read_only' : 'validation_failed'
  return new ProblemError(only, sentence(errors.length === 1 ? errors.map(told).join() : counted(errors)), {
    errors,
  })
}

function told({ pointer = '', code, detail }: Fault): string {
  if (code !== 'unknown_field') return `${placeOf(pointer)} ${detail}`
  const [, meant = ''] = detail.split(/(?=; did you mean)/)
  return `Unknown field: ${placeOf(pointer)}${meant}`
}

const namedPlaces = 10

function counted(errors: readonly Fault[]): string {
  const places = [...new Set(errors.map(({ pointer = '' }) => placeOf(pointer)))]
  const more = places.length > namedPlaces ? ` and ${places.length - namedPlaces} more places` : ''
  return `${errors.length} problems found: ${places.slice(0, namedPlaces).join(', ')}${more}`
}

/** `#/modules/0/title` as `modules.0.title`. */
function placeOf(pointer: string): string {
  return pointer.slice(2).replaceAll('/', '.') || 'The body'
}

/** `Course crs_1 not found.` */
export function notFoundDetail(kind: string, reference: string): string {
  return `${kind} ${reference} not found.`.replace(/^./, (letter) => letter.toUpperCase())
}

/** The text with a full stop, unless it ends as a question. */
export function sentence(text: string): string {
  return text.endsWith('?') ? text : `${text}.`
}
