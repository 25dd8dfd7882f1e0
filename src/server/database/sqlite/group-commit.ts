import { unavailable } from '../../problem/problem-error.ts'
import type { Store, Transaction } from '../database.ts'

interface Job {
  readonly work: (transaction: Transaction) => Promise<unknown>
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
  /** When it has waited long enough for the lock of another program; by performance.now(). */
  readonly untilMs: number
}

/** What grouping needs of a database. */
interface Transactions {
  /** Throws SQLITE_BUSY before any work where another program holds the write lock. */
  transact<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result>
  /** False outside a transaction, and once the database has rolled one back by itself. */
  inTransaction(): boolean
}

const busy = 5
const longestDelayMs = 50
/** Long enough for dozens of writes, and no longer than anybody notices. */
const longestTurnMs = 20
/** As many as a server has connections: what waits is held in memory. */
const maxWaiting = 500

/**
 * Writes that come in the same turn of the event loop share one transaction, each on a savepoint of its own: one
 * that throws undoes itself alone. Nobody is answered before the commit; where that fails, all are refused. What has
 * not begun after 20 ms is left to the next turn: many large writes at once do not hold up everybody else.
 *
 * Where another program holds the write lock they try again after short growing delays, in which the event loop goes
 * on; after `waitMs` each is refused with the database's own SQLITE_BUSY.
 */
export function groupCommit(database: Transactions, waitMs: number): Store['write'] {
  let waiting: Job[] = []
  let delayMs = 0
  let isDue = false

  function commitSoon(): void {
    if (isDue || waiting.length === 0) return
    isDue = true
    if (delayMs === 0) setImmediate(commit)
    // Several programs that wait for the same lock must not come at the same time, again and again.
    else setTimeout(commit, delayMs * (0.5 + Math.random() / 2))
  }

  async function commit(): Promise<void> {
    const jobs = waiting
    waiting = []
    isDue = false
    let begun = false
    try {
      const settle = await database.transact((transaction) => {
        begun = true
        return runFor(longestTurnMs, transaction, jobs)
      })
      delayMs = 0
      waiting = [...jobs.slice(settle.length), ...waiting]
      for (const answer of settle) answer()
    } catch (error) {
      if (!begun && isBusy(error)) waitLonger(jobs, error)
      else for (const { reject } of jobs) reject(error)
    }
    commitSoon()
  }

  function waitLonger(jobs: readonly Job[], error: unknown): void {
    const nowMs = performance.now()
    waiting = [...jobs.filter(({ untilMs }) => untilMs > nowMs), ...waiting]
    for (const { untilMs, reject } of jobs) if (untilMs <= nowMs) reject(error)
    delayMs = Math.min(longestDelayMs, delayMs * 2 + 1)
  }

  async function onSavepoint(transaction: Transaction, { work, resolve, reject }: Job): Promise<() => void> {
    try {
      const result = await transaction.savepoint(() => work(transaction))
      return () => resolve(result)
    } catch (error) {
      // A full disk takes the whole transaction with it, the work of the others too.
      if (!database.inTransaction()) throw error
      return () => reject(error)
    }
  }

  /** Runs as many of these as begin in this time, and at least one. */
  async function runFor(
    limitMs: number,
    transaction: Transaction,
    jobs: readonly Job[],
  ): Promise<(() => void)[]> {
    const [only] = jobs
    if (only && jobs.length === 1) {
      const result = await only.work(transaction)
      return [() => only.resolve(result)]
    }
    const endMs = performance.now() + limitMs
    const done: (() => void)[] = []
    for (const job of jobs) {
      done.push(await onSavepoint(transaction, job))
      if (performance.now() >= endMs) break
    }
    return done
  }

  return <Result>(work: (transaction: Transaction) => Promise<Result>) =>
    new Promise<Result>((resolve, reject) => {
      if (waiting.length >= maxWaiting) throw unavailable('Too many writes are waiting for the database.', 1)
      // What comes out is what this very work gave; the jobs of a turn have results of many kinds.
      waiting.push({ work, resolve: resolve as Job['resolve'], reject, untilMs: performance.now() + waitMs })
      commitSoon()
    })
}

/** SQLITE_BUSY, whatever its extension (SQLite, Result and Error Codes). */
function isBusy(error: unknown): boolean {
  const { errcode = 0 } = error as { errcode?: number }
  return (errcode & 0xff) === busy
}
