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

/** What a store is made of. */
export interface StoreParts {
  /** For what is answered soon. */
  readonly requests: Connections
  /** For what is read for long: however many read, the others have their connections. */
  readonly streams: Connections
  readonly dialect: Dialect
  /** Waits before a write is tried again; a random time unless told otherwise. */
  readonly pause?: Pause
}

type Work<Result> = (transaction: Transaction) => Promise<Result>

/** As if each write were alone; a read sees one state of the data (PostgreSQL, Transaction Isolation). */
const beginWrite = 'begin isolation level serializable'
const beginRead = 'begin isolation level repeatable read read only'

const mayBeOver = (error: unknown) => isConflict(error) || isStalePlan(error)

/** The port on PostgreSQL. What the server or the way to it does wrong is 503, with the time after which to try again. */
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
      // What was read is answered for already.
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
      // Its locks would be in the way of the next attempt.
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
    // A statement that writes takes part in keeping transactions apart.
    run: (query) => untilServed(mayBeOver, () => write((transaction) => transaction.run(query))),
    read: (work) => untilServed(isStalePlan, () => read(work)),
    write: (work) => untilServed(mayBeOver, () => write(work)),
    stream,
    // Where deleted rows and logs are kept is PostgreSQL's own business, and so is whether its files are whole.
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

/** Gives a connection back at the end of its transaction, or closes it where that failed. */
function giveBack(lease: Lease, end: Promise<void>): Promise<void> {
  return end.then(
    () => lease.release(),
    () => lease.release(true),
  )
}
