import sql, { type Sql } from 'sql-template-tag'
import { unavailable } from '../../problem/problem-error.ts'
import { type Database, NotMet, type Transaction } from '../database.ts'
import type { Connection } from './connection.ts'
import { isAborted, isConflict, isDivision, isLost, isStalePlan } from './sql-state.ts'
import { statementsBy, valuesOf } from './statements.ts'

/** What all transactions of a database share. */
export interface Surroundings extends Pick<Database, 'dialect' | 'stream'> {
  /** By which name a text is prepared. */
  readonly nameOf: (text: string) => string | undefined
}

/** A transaction from its first statement to its end. */
export interface OpenTransaction {
  /** What belongs to it. Throws for whoever uses it after the end. */
  readonly statements: Transaction
  /**
   * Another transaction that was in the way, a stale plan, or a condition that was not met, wherever that came up: even in
   * what `work` caught.
   */
  readonly obstacle: () => unknown
  /**
   * Throws an obstacle, what failed in it, where that was not undone by a savepoint, and 503 where the answer to the commit was
   * lost: then nobody knows whether it is done.
   */
  readonly commit: () => Promise<void>
  /** Throws where the connection is lost, which undoes it as well. */
  readonly rollback: () => Promise<void>
}

/**
 * A transaction on a connection that nobody else uses. `begin` is not waited for, but sent with the first statement; so
 * are savepoints.
 */
export function openTransaction(
  connection: Connection,
  begin: string,
  { dialect, stream, nameOf }: Surroundings,
): OpenTransaction {
  let hasBegun = false
  let hasEnded = false
  let depth = 0
  // PostgreSQL refuses all further statements after one that failed, up to the savepoint before it.
  let failure: unknown
  let obstacle: unknown
  /** The last one of `later`. */
  let unanswered: Promise<unknown> | undefined

  function failed(error: unknown): never {
    failure ??= error
    if (isConflict(error) || isStalePlan(error) || error instanceof NotMet) obstacle ??= error
    throw isAborted(error) ? failure : error
  }

  /** What cannot fail by itself. Where it does, the connection is lost, and what comes after it fails as well. */
  function sendAhead(text: string): void {
    connection.query(text).catch(failed).catch(ignored)
  }

  function ready(): void {
    // Its connection may already be in somebody else's transaction.
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
    // The answers come in the order of the statements.
    unanswered = query(statement).catch(ignored)
  }

  /** A statement that fails where there is no row: with it fails all that was sent behind it, the commit too. */
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
      // A commit behind a statement that failed is answered, and undoes everything.
      requireWhole()
    },
    rollback: () => end('rollback'),
  }
}

function ignored(): void {
  // What failed is known by `failed`.
}

function unknownOutcome(cause: unknown): Error {
  return unavailable(
    'The connection to the database was lost during the commit: the change may have been saved or not.',
    1,
    cause,
  )
}
