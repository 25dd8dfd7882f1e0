import { sqlStateOf } from '../sql-state.ts'

/** The connection to PostgreSQL is gone, or was never there: what was sent may have been done or not. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost'
}

/**
 * True where the connection is of no more use. 57P01 to 57P03 are a server that stops or starts, 25P03 one that did not
 * wait any longer for a transaction to go on, class 08 a connection that broke.
 */
export function isLost(error: unknown): boolean {
  return error instanceof ConnectionLost || /^(57P0|08|25P03)/.test(sqlStateOf(error) ?? '')
}

const serialization = '40001'
const deadlock = '40P01'
const uniqueViolation = '23505'
const aborted = '25P02'
const division = '22012'

/**
 * True where the same transaction, begun anew, may succeed: it met another one. That of a duplicate key sees the other
 * row then, and answers for it.
 */
export function isConflict(error: unknown): boolean {
  return [serialization, deadlock, uniqueViolation].includes(sqlStateOf(error) ?? '')
}

/** True for a statement that was refused because one before it in the same transaction had failed. */
export function isAborted(error: unknown): boolean {
  return sqlStateOf(error) === aborted
}

/** True for a division by zero. */
export function isDivision(error: unknown): boolean {
  return sqlStateOf(error) === division
}

/**
 * True for a prepared statement whose columns are others since another server migrated the database: a new connection
 * has none.
 */
export function isStalePlan(error: unknown): boolean {
  return sqlStateOf(error) === '0A000' && error instanceof Error && error.message.includes('cached plan')
}
