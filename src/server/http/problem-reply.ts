import type { Actor } from '../changes/writing.ts'
import { isDamage, reasonOf } from '../database/sqlite/connection.ts'
import { ProblemError, problemOf, unavailable } from '../problem-error.ts'
import type { Bucket } from './limits.ts'
import type { Reply } from './reply.ts'
import type { RequestContext } from './request-context.ts'

export interface Answered {
  readonly reply: Reply
  readonly principal?: Actor | undefined
  /** Default: that of the network. */
  readonly bucket?: Bucket | undefined
  /** Cause of an internal error, for the log. */
  readonly cause?: unknown
}

/** Returns problem details, an OAuth error, or a page. */
export type Refuse = (fault: ProblemError, context: RequestContext) => Reply

export function refusalOf(context: RequestContext, error: unknown, refuse: Refuse = problemReply): Answered {
  const fault = faultOf(error)
  return { reply: refuse(fault, context), cause: fault.cause }
}

/** RFC 9457. */
export function problemReply(fault: ProblemError, request: RequestContext): Reply {
  return {
    status: fault.status,
    headers: { ...fault.headers, 'content-type': 'application/problem+json' },
    body: JSON.stringify(problemOf(fault, request.path, request.requestId)),
    code: fault.code,
  }
}

/** SQLITE_BUSY and SQLITE_LOCKED; SQLITE_READONLY, SQLITE_IOERR and SQLITE_FULL (SQLite, Result Codes). */
const temporaryErrors: readonly number[] = [5, 6, 8, 10, 13]
/** The lowest byte of an extended result code is the primary one. */
const primaryCodeMask = 0xff

/**
 * Converts any thrown value to a problem. An unexpected error becomes 500 `internal` without details, except
 * the cause for the log; a database that is locked or cannot write becomes 503.
 */
export function faultOf(error: unknown): ProblemError {
  if (error instanceof ProblemError) return error
  const { code, errcode = 0 } = error as { code?: string; errcode?: number }
  if (code === 'ERR_SQLITE_ERROR' && temporaryErrors.includes(errcode & primaryCodeMask)) {
    return unavailable(`The database ${reasonOf(error)}.`, 1, error)
  }
  if (code === 'ERR_SQLITE_ERROR' && isDamage(error)) {
    const detail = `The database ${reasonOf(error)}; stop the server and restore a backup.`
    return new ProblemError('internal', detail, { cause: error })
  }
  return new ProblemError('internal', 'Internal error; see the server log for this request id.', {
    cause: error,
  })
}
