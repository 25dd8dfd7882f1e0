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
  return new ProblemError('not_found', `There is no ${kind} ${reference}.`)
}

/** 404 for something named in the body, with its place. */
export function parentNotFound(pointer: string, kind: string, reference: string): ProblemError {
  const detail = `There is no ${kind} ${reference}.`
  return new ProblemError('not_found', detail, { errors: [{ pointer, code: 'not_found', detail }] })
}

/** 422 with every fault of the body. */
export function invalid(errors: readonly Fault[]): ProblemError {
  const only = errors.every(({ code }) => code === 'read_only') ? 'read_only' : 'validation_failed'
  const first = errors[0]
  const place = first?.pointer?.slice(2) || 'The body'
  const count = errors.length === 1 ? '' : `${errors.length} faults, the first: `
  return new ProblemError(only, sentence(`${count}${place} ${first?.detail}`), { errors })
}

/** The text with a full stop, unless it ends as a question. */
export function sentence(text: string): string {
  return text.endsWith('?') ? text : `${text}.`
}
