import type { Store, Transaction } from '../database.ts'
import { resultCodeOf } from './connection.ts'

interface Job {
  readonly work: (transaction: Transaction) => Promise<unknown>
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
  /** When to give up waiting for another program's lock (performance.now()). */
  readonly untilMs: number
}

interface Transactions {
  /** Throws SQLITE_BUSY before any work if another program holds the write lock. */
  transact<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result>
  /** False outside a transaction, also after SQLite has rolled one back by itself. */
  inTransaction(): boolean
}

const busy = 5
const maxDelayMs = 50
/** Enough for dozens of writes, too short to be noticed. */
const maxTurnMs = 20

/**
 * Groups writes of the same turn of the event loop into one transaction, each in a savepoint: a write that throws
 * rolls back alone. Results are returned after the commit; if it fails, all writes fail. Writes that have not begun
 * after 20 ms wait for the next turn, so that many large ones do not block other requests.
 *
 * If another program holds the write lock, the group is retried after short growing delays; after `waitMs` each write
 * fails with SQLITE_BUSY.
 */
export function groupCommit(database: Transactions, waitMs: number): Store['write'] {
  let waiting: Job[] = []
  let delayMs = 0
  let isDue = false

  function commitSoon(): void {
    if (isDue || waiting.length === 0) return
    isDue = true
    if (delayMs === 0) setImmediate(commit)
    // Jitter, so that several programs waiting for the same lock do not collide again and again.
    else setTimeout(commit, delayMs * (0.5 + Math.random() / 2))
  }

  async function commit(): Promise<void> {
    const jobs = waiting
    waiting = []
    isDue = false
    let begun = false
    try {
      const answers = await database.transact((transaction) => {
        begun = true
        return runFor(maxTurnMs, transaction, jobs)
      })
      delayMs = 0
      waiting = [...jobs.slice(answers.length), ...waiting]
      for (const answer of answers) answer()
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
    delayMs = Math.min(maxDelayMs, delayMs * 2 + 1)
  }

  async function onSavepoint(transaction: Transaction, { work, resolve, reject }: Job): Promise<() => void> {
    try {
      const result = await transaction.savepoint(() => work(transaction))
      return () => resolve(result)
    } catch (error) {
      // A full disk makes SQLite roll back the whole transaction, including other writes.
      if (!database.inTransaction()) throw error
      return () => reject(error)
    }
  }

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
      // Each job resolves with its own result; the array holds jobs of many types.
      waiting.push({ work, resolve: resolve as Job['resolve'], reject, untilMs: performance.now() + waitMs })
      commitSoon()
    })
}

/** SQLITE_BUSY and its extended codes (SQLite, Result and Error Codes). */
function isBusy(error: unknown): boolean {
  return resultCodeOf(error) === busy
}
