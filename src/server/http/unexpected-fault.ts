import { reasonOf } from '../database/sqlite-fault.ts'
import { ProblemError, unavailable } from '../problem/problem-error.ts'

const busyErrors: readonly number[] = [5, 6]
const diskErrors: readonly number[] = [8, 10, 13]

/**
 * Any thrown value as a refusal. What nobody foresaw becomes 500 `internal`, with nothing of the inside in it but
 * the cause for the log; a database that is locked or cannot write becomes 503.
 */
export function faultOf(error: unknown): ProblemError {
  if (error instanceof ProblemError) return error
  const { code, errcode = 0 } = error as { code?: string; errcode?: number }
  if (code === 'ERR_SQLITE_ERROR' && [...busyErrors, ...diskErrors].includes(errcode & 0xff)) {
    return unavailable(`The database ${reasonOf(error)}.`, 1, error)
  }
  return new ProblemError('internal', 'Internal error; see the server log for this request id.', {
    cause: error,
  })
}
