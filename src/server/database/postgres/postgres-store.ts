import type { Sql } from 'sql-template-tag'
import type { Dialect, Store, Transaction } from '../database.ts'
import { attemptsWith, type Pause, randomPause } from './attempts.ts'
import type { Answer, Connections, Lease } from './connection.ts'
import { cursorOn } from './cursor.ts'
import { servingFault } from './serving-fault.ts'
import { isConflict, isLost, isStalePlan } from './sql-state.ts'
import { statementNames } from './statement-names.ts'
import { statementsBy, valuesOf } from './statements.ts'
import { type OpenTransaction, openTransaction } from './transaction.ts'

/** The parts of a store. */
export interface StoreParts {
  /** Connections for short transactions. */
  readonly requests: Connections
  /** Connections for streams, kept apart so that long reads do not use up those of requests. */
  readonly streams: Connections
  readonly dialect: Dialect
  /** Delay before a write is retried (default random). */
  readonly pause?: Pause
}

type Work<Result> = (transaction: Transaction) => Promise<Result>

/** Serializable writes; a read sees one snapshot (PostgreSQL, Transaction Isolation). */
const beginWrite = 'begin isolation level serializable'
const beginRead = 'begin isolation level repeatable read read only'

const mayBeOver = (error: unknown) => isConflict(error) || isStalePlan(error)

/** Creates the store on PostgreSQL. Errors of the server or the network become 503 with a Retry-After. */
export function postgresStore({ requests, streams, dialect, pause = randomPause }: StoreParts): Store {
  const nameOf = statementNames()
  const attempts = attemptsWith(pause)
  const stream = (query: Sql) => cursorOn(streams, beginRead, query.text, valuesOf(query))
  const surroundings = { dialect, stream, nameOf }

  async function send(query: Sql): Promise<Answer> {
    const { text } = query
    const values = valuesOf(query)
    return untilServed(isStalePlan, async () => {
      const lease = await requests.lease()
      try {
        const answer = await lease.query(text, values, nameOf(text))
        lease.release()
        return answer
      } catch (error) {
        lease.release(isLost(error) || isStalePlan(error))
        throw error
      }
    })
  }

  async function read<Result>(work: Work<Result>): Promise<Result> {
    const lease = await requests.lease()
    const transaction = openTransaction(lease, beginRead, surroundings)
    try {
      const result = await work(transaction.statements)
      // Not awaited: the result is complete.
      giveBack(lease, transaction.rollback())
      return result
    } catch (error) {
      giveBack(lease, undone(transaction))
      throw transaction.obstacle() ?? error
    }
  }

  async function write<Result>(work: Work<Result>): Promise<Result> {
    const lease = await requests.lease()
    const transaction = openTransaction(lease, beginWrite, surroundings)
    try {
      const result = await work(transaction.statements)
      await transaction.commit()
      lease.release()
      return result
    } catch (error) {
      // Release the connection first: its locks would block the retry.
      await giveBack(lease, undone(transaction))
      throw transaction.obstacle() ?? error
    }
  }

  async function untilServed<Result>(
    again: (error: unknown) => boolean,
    work: () => Promise<Result>,
  ): Promise<Result> {
    try {
      return await attempts(again, work)
    } catch (error) {
      throw servingFault(error)
    }
  }

  return {
    dialect,
    ...statementsBy(send),
    // A single write is a transaction as well, so it takes part in the detection of conflicts.
    run: (query) => untilServed(mayBeOver, () => write((transaction) => transaction.run(query))),
    read: (work) => untilServed(isStalePlan, () => read(work)),
    write: (work) => untilServed(mayBeOver, () => write(work)),
    stream,
    // PostgreSQL manages its own log and the integrity of its files.
    emptyLog: async () => true,
    check: async () => [],
    close: async () => {
      await Promise.all([requests.close(), streams.close()])
    },
  }
}

async function undone(transaction: OpenTransaction): Promise<void> {
  await transaction.rollback()
  if (isStalePlan(transaction.obstacle())) throw transaction.obstacle()
}

/** Releases a connection after its transaction ended, or closes it if that failed. */
function giveBack(lease: Lease, end: Promise<void>): Promise<void> {
  return end.then(
    () => lease.release(),
    () => lease.release(true),
  )
}
