import { sqlStateOf } from '../sql-state.ts'

/** The connection to PostgreSQL was lost or never made; statements that were sent may have run or not. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost'
}

/**
 * True if the connection is unusable: 57P01 to 57P03 (the server stops or starts), 25P03 (idle-in-transaction
 * timeout), class 08 (connection error).
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
 * True if the transaction conflicted with another and a retry may succeed. After a duplicate key the retry sees the
 * other row and reports it.
 */
export function isConflict(error: unknown): boolean {
  return [serialization, deadlock, uniqueViolation].includes(sqlStateOf(error) ?? '')
}

/** True for a statement refused because an earlier one in the same transaction failed. */
export function isAborted(error: unknown): boolean {
  return sqlStateOf(error) === aborted
}

/** True for a division by zero. */
export function isDivision(error: unknown): boolean {
  return sqlStateOf(error) === division
}

/**
 * True for a prepared statement whose columns changed because another server migrated the database. A new connection
 * has no prepared statements.
 */
export function isStalePlan(error: unknown): boolean {
  return sqlStateOf(error) === '0A000' && error instanceof Error && error.message.includes('cached plan')
}
