import { ProblemError, unavailable } from '../../problem-error.ts'
import { sqlStateOf } from '../sql-state.ts'
import { ConnectionLost, isLost } from './sql-state.ts'

/** No connection of the pool became free in time. */
export class NoneFree extends Error {
  override readonly name = 'NoneFree'
}

/** Errors outside the failed statement, by SQLSTATE or class, each with its Retry-After in seconds. */
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
 * Turns an error of the server or the network into 503; returns any other error unchanged. If the connection was
 * lost, the transaction was rolled back.
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
