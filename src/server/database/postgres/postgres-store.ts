import { setTimeout } from 'node:timers/promises'
import type { Sql } from 'sql-template-tag'
import type { Cell, Dialect, Store, Transaction } from '../database.ts'
import { isConflict, isLost, isStalePlan, servingFaultOf } from './faults.ts'
import type { Answer, Connections, Lease } from './pool.ts'
import { OpenTransaction, statementsBy, valuesOf } from './transaction.ts'

interface StoreParts {
  readonly requests: Connections
  /** Kept apart so that long reads do not use up the connections of requests. */
  readonly streams: Connections
  readonly dialect: Dialect
  /** Delay before a write is retried (default random). */
  readonly pause?: Pause
}

type Work<Result> = (transaction: Transaction) => Promise<Result>

/** PostgreSQL, Transaction Isolation. */
const beginWrite = 'begin isolation level serializable'
const beginRead = 'begin isolation level repeatable read read only'

const isTransient = (error: unknown) => isConflict(error) || isStalePlan(error)

/** Errors of the server or the network become 503 with a Retry-After. */
export function postgresStore({ requests, streams, dialect, pause = randomPause }: StoreParts): Store {
  const nameOf = createStatementNames()
  const attempts = attemptsWith(pause)
  const stream = (query: Sql) => streamRows(streams, beginRead, query.text, valuesOf(query))
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
    const transaction = new OpenTransaction(lease, beginRead, surroundings)
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
    const transaction = new OpenTransaction(lease, beginWrite, surroundings)
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
      throw servingFaultOf(error)
    }
  }

  return {
    dialect,
    ...statementsBy(send),
    // A single write is a transaction as well, so it takes part in the detection of conflicts.
    run: (query) => untilServed(isTransient, () => write((transaction) => transaction.run(query))),
    read: (work) => untilServed(isStalePlan, () => read(work)),
    write: (work) => untilServed(isTransient, () => write(work)),
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

/** Closes the connection if its transaction failed to end. */
function giveBack(lease: Lease, end: Promise<void>): Promise<void> {
  return end.then(
    () => lease.release(),
    () => lease.release(true),
  )
}

const batchRows = 1000

/**
 * Streams rows, a thousand at a time, from one snapshot on a separate connection; the next batch is fetched while the
 * caller handles this one. Throws 503 if no connection is free in time.
 *
 * @param begin statement that begins the transaction
 */
async function* streamRows(
  connections: Connections,
  begin: string,
  text: string,
  values: Cell[],
): AsyncGenerator<Cell[][], undefined> {
  const lease = await connections.lease().catch((error: unknown) => {
    throw servingFaultOf(error)
  })
  const fetch = async () => (await lease.query(`fetch ${batchRows} from batches`)).rows
  // All rows will be read, so plan for the total cost instead of the first rows.
  const opening = [
    lease.query(begin),
    lease.query('set local cursor_tuple_fraction = 1'),
    lease.query(`declare batches no scroll cursor for ${text}`, values),
  ]
  let isOpen = true
  const giveBack = () => {
    isOpen = false
    lease.query('rollback').then(
      () => lease.release(),
      () => lease.release(true),
    )
  }
  try {
    let next = Promise.all(opening).then(fetch)
    for (;;) {
      const rows = await next
      const isLast = rows.length < batchRows
      // A slow caller need not hold the connection during the last batch.
      if (isLast) giveBack()
      else next = fetch()
      // Awaited only if the caller goes on; avoids an unhandled rejection otherwise.
      next.catch(() => undefined)
      if (rows.length > 0) yield rows
      if (isLast) return
    }
  } catch (error) {
    if (isOpen) lease.release(true)
    isOpen = false
    throw servingFaultOf(error)
  } finally {
    if (isOpen) giveBack()
  }
}

const maxAttempts = 10
const maxConcurrentAttempts = 3
const maxPauseMs = 100

/** Before the next attempt; `attempt` counts the failed ones from 1. */
type Pause = (attempt: number) => Promise<unknown>

/** Retries up to ten times on transient errors, then throws the last one. */
type Attempts = <Result>(
  isTransient: (error: unknown) => boolean,
  work: () => Promise<Result>,
) => Promise<Result>

/** Random, growing delay, so that two conflicting transactions do not collide again. */
const randomPause: Pause = (attempt) => setTimeout(Math.random() * Math.min(maxPauseMs, 2 ** attempt))

/** Calls that have failed three times run one at a time, so that each succeeds under contention. */
function attemptsWith(pause: Pause): Attempts {
  let last: Promise<unknown> = Promise.resolve()

  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = last.then(work, work)
    last = turn
    return turn
  }

  return async (isTransient, work) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await (attempt > maxConcurrentAttempts ? inTurn(work) : work())
      } catch (error) {
        if (attempt === maxAttempts || !isTransient(error)) throw error
      }
      await pause(attempt)
    }
  }
}

const maxNames = 200
const maxCountedTexts = 2000
const usesBeforeName = 3

/**
 * Names repeated statements, so that each connection prepares them once: a text gets its name at its third use.
 * PostgreSQL keeps prepared statements as long as the connection lives, so there are at most 200 names; later texts
 * are parsed each time.
 */
function createStatementNames(): (text: string) => string | undefined {
  const names = new Map<string, string>()
  const uses = new Map<string, number>()

  return (text) => {
    const known = names.get(text)
    if (known !== undefined || names.size >= maxNames) return known
    const count = (uses.get(text) ?? 0) + 1
    if (count < usesBeforeName) {
      if (uses.size >= maxCountedTexts) uses.clear()
      uses.set(text, count)
      return undefined
    }
    uses.delete(text)
    const name = `learnctl_${names.size}`
    names.set(text, name)
    return name
  }
}
