import sql, { type Sql } from 'sql-template-tag'
import { unavailable } from '../../problem-error.ts'
import { type Cell, type Database, NotMet, type Row, type Transaction } from '../database.ts'
import { isAborted, isConflict, isDivision, isLost, isStalePlan } from './faults.ts'
import type { Answer, Connection } from './pool.ts'

/** Shared by all transactions of a database. */
interface Surroundings extends Pick<Database, 'dialect' | 'stream'> {
  /** Returns the name to prepare a text under. */
  readonly nameOf: (text: string) => string | undefined
}

/** A transaction from its first statement to its end. */
export interface OpenTransaction {
  /** Its statements. They throw once the transaction has ended. */
  readonly statements: Transaction
  /**
   * Returns the reason to retry or give up, even if `work` caught it: a conflict, a stale plan, or an unmet
   * condition.
   */
  readonly obstacle: () => unknown
  /**
   * Throws an obstacle, an error that no savepoint undid, and 503 if the response to the commit was lost: its outcome
   * is then unknown.
   */
  readonly commit: () => Promise<void>
  /** Throws if the connection is lost, which rolls back as well. */
  readonly rollback: () => Promise<void>
}

/**
 * Opens a transaction on a connection that is leased for it. `begin` and savepoints are not awaited but sent with the
 * next statement.
 */
export function openTransaction(
  connection: Connection,
  begin: string,
  { dialect, stream, nameOf }: Surroundings,
): OpenTransaction {
  let hasBegun = false
  let hasEnded = false
  let depth = 0
  // After a failed statement PostgreSQL refuses all further ones up to the savepoint before it.
  let failure: unknown
  let obstacle: unknown
  /** Result of the last statement of `later`. */
  let unanswered: Promise<unknown> | undefined

  function failed(error: unknown): never {
    failure ??= error
    if (isConflict(error) || isStalePlan(error) || error instanceof NotMet) obstacle ??= error
    throw isAborted(error) ? failure : error
  }

  /** Sends a statement that fails only if the connection is lost; the statement after it then fails, too. */
  function sendAhead(text: string): void {
    connection.query(text).catch(failed).catch(ignored)
  }

  function ready(): void {
    // The connection may already be leased to another transaction.
    if (hasEnded) throw new Error('A statement came after the end of its transaction')
    if (!hasBegun) sendAhead(begin)
    hasBegun = true
  }

  const send = (query: Sql) => {
    const { text } = query
    const values = valuesOf(query)
    ready()
    return connection.query(text, values, nameOf(text))
  }
  const query = (query: Sql) => send(query).catch(failed)

  function later(statement: Sql): void {
    // Results arrive in the order of the statements.
    unanswered = query(statement).catch(ignored)
  }

  /**
   * Sends a statement that fails if there is no row, so that all statements pipelined after it fail, including the
   * commit.
   */
  function must(condition: Sql): void {
    const statement = sql`select 1 / count(*) from (${condition}) found`
    unanswered = send(statement)
      .catch((error: unknown) => failed(isDivision(error) ? new NotMet() : error))
      .catch(ignored)
  }

  async function savepoint<Result>(work: () => Promise<Result>): Promise<Result> {
    const before = failure
    depth += 1
    const name = `level_${depth}`
    ready()
    sendAhead(`savepoint ${name}`)
    try {
      const result = await work()
      await unanswered
      if (failure !== before) throw failure
      sendAhead(`release ${name}`)
      return result
    } catch (error) {
      if (!isGone()) {
        sendAhead(`rollback to ${name}`)
        await connection.query(`release ${name}`)
        failure = before
      }
      throw error
    } finally {
      depth -= 1
    }
  }

  function isGone(): boolean {
    return failure !== undefined && isLost(failure)
  }

  async function end(statement: 'commit' | 'rollback'): Promise<void> {
    hasEnded = true
    if (hasBegun) await connection.query(statement)
  }

  function requireWhole(): void {
    const refusal = obstacle ?? failure
    if (refusal !== undefined) throw refusal
  }

  return {
    statements: { dialect, stream, ...statementsBy(query), later, must, savepoint },
    obstacle: () => obstacle,
    async commit() {
      requireWhole()
      try {
        await end('commit')
      } catch (error) {
        if (isLost(error)) throw unknownOutcome(error)
        return failed(error)
      }
      // PostgreSQL answers a commit after a failed statement with a rollback, not with an error.
      requireWhole()
    },
    rollback: () => end('rollback'),
  }
}

function ignored(): void {
  // The error was recorded by `failed`.
}

function unknownOutcome(cause: unknown): Error {
  return unavailable(
    'The connection to the database was lost during the commit: the change may have been saved or not.',
    1,
    cause,
  )
}

/** Sends one statement. */
type Send = (query: Sql) => Promise<Answer>

/** Returns the methods that read the rows of a statement. */
export function statementsBy(send: Send): Pick<Database, 'one' | 'all' | 'cells' | 'run'> {
  return {
    // The caller names the shape; the type system cannot check it against the SQL.
    one: async <Shape extends Row>(query: Sql) => {
      const { fields, rows } = await send(query)
      return rows[0] && (rowOf(fields, rows[0]) as Shape)
    },
    all: async <Shape extends Row>(query: Sql) => {
      const { fields, rows } = await send(query)
      return rows.map((cells) => rowOf(fields, cells) as Shape)
    },
    cells: async (query) => (await send(query)).rows,
    run: async (query) => (await send(query)).touched,
  }
}

function rowOf(fields: Answer['fields'], cells: readonly Cell[]): Row {
  const row: Record<string, Cell> = {}
  for (let index = 0; index < fields.length; index += 1) row[fields[index]?.name ?? ''] = cells[index] ?? null
  return row
}

/** Converts parameters to cells: a boolean is 1 or 0, as in SQLite. */
export function valuesOf({ values }: Sql): Cell[] {
  return values.map((value) => {
    if (typeof value === 'boolean') return Number(value)
    if (value === null || typeof value === 'string' || typeof value === 'number') return value
    throw new TypeError(`A statement cannot take a value of type ${typeof value}`)
  })
}
