import { ProblemError, unavailable } from '../../problem/problem-error.ts'
import { sqlStateOf } from '../sql-state.ts'
import { ConnectionLost, isLost } from './sql-state.ts'

/** Thrown where all connections of a pool are in use for too long. */
export class NoneFree extends Error {
  override readonly name = 'NoneFree'
}

/** What goes on outside the statement that failed, by SQLSTATE or class; and after how many seconds to try again. */
const states: readonly (readonly [RegExp, string, number])[] = [
  [/^40/, 'The database is busy: other changes to the same data came in between.', 1],
  [/^55P03/, 'The database is busy: another change holds a lock for too long.', 1],
  [/^57014/, 'The database took too long to answer.', 5],
  [/^53300/, 'The database has too many connections.', 5],
  [/^53100/, 'The disk of the database is full.', 30],
  [/^53/, 'The database is out of resources.', 5],
  [/^25006/, 'The database is read-only.', 30],
  [/^57P03/, 'The database is starting or shutting down.', 5],
  [/^28/, 'The database refuses the connection.', 30],
]

/** SQLSTATE of text that the encoding cannot hold: in UTF-8 only U+0000, as a character or in JSON. */
const untranslatable = ['22021', '22P05']

/**
 * A fault of the database's server or of the way there as 503; anything else as it is. Where the connection was lost,
 * nothing of the transaction was done.
 */
export function servingFault(error: unknown): unknown {
  if (error instanceof NoneFree) {
    return unavailable('Too many requests are waiting for the database.', 1, error)
  }
  const state = sqlStateOf(error)
  if (state !== undefined) {
    if (untranslatable.includes(state)) {
      return new ProblemError('validation_failed', 'Text cannot contain the character U+0000.', {
        cause: error,
      })
    }
    const known = states.find(([pattern]) => pattern.test(state))
    if (known) return unavailable(known[1], known[2], error)
  }
  if (!(error instanceof ConnectionLost) && !isLost(error)) return error
  return unavailable('The connection to the database was lost.', 1, error)
}
