import { unavailable } from '../problem/problem-error.ts'

interface Job {
  readonly run: (alone: boolean) => () => void
  readonly reject: (error: unknown) => void
  /** When it has waited long enough for the lock of another program; of `performance.now`. */
  readonly untilMs: number
}

/** What grouping needs of a database. */
interface Transactions {
  /** Throws SQLITE_BUSY before any work where another program holds the write lock. */
  transaction<Result>(work: () => Result): Result
  savepoint<Result>(work: () => Result): Result
  /** False outside a transaction, and once the database has rolled one back by itself. */
  inTransaction(): boolean
}

const busy = 5
const longestDelayMs = 50
/** Long enough for dozens of writes, and no longer than anybody notices. */
const longestTurnMs = 20
/** As many as a server has connections: what waits is held in memory. */
const mostWaiting = 500

/**
 * Writes that come in the same turn of the event loop share one transaction, each on a savepoint of its own: one
 * that throws undoes itself alone. Nobody is answered before the commit; where that fails, all are refused. What has
 * not begun after 20 ms is left to the next turn: many large writes at once do not hold up everybody else.
 *
 * Where another program holds the write lock they try again after short growing delays, in which the event loop goes
 * on; after `waitMs` each is refused with the database's own SQLITE_BUSY.
 */
export function groupCommit(
  database: Transactions,
  waitMs: number,
): <Result>(work: () => Result) => Promise<Result> {
  let waiting: Job[] = []
  let delayMs = 0

  function commit(): void {
    const jobs = waiting
    waiting = []
    let begun = false
    try {
      const settle = database.transaction(() => {
        begun = true
        return runFor(longestTurnMs, jobs)
      })
      delayMs = 0
      waiting = jobs.slice(settle.length)
      if (waiting.length > 0) setImmediate(commit)
      for (const answer of settle) answer()
    } catch (error) {
      if (!begun && isBusy(error)) {
        tryAgain(jobs, error)
        return
      }
      delayMs = 0
      for (const { reject } of jobs) reject(error)
    }
  }

  function tryAgain(jobs: readonly Job[], error: unknown): void {
    const nowMs = performance.now()
    waiting = jobs.filter(({ untilMs }) => untilMs > nowMs)
    for (const { untilMs, reject } of jobs) if (untilMs <= nowMs) reject(error)
    delayMs = waiting.length === 0 ? 0 : Math.min(longestDelayMs, delayMs * 2 + 1)
    // Several programs that wait for the same lock must not come at the same time, again and again.
    if (waiting.length > 0) setTimeout(commit, delayMs * (0.5 + Math.random() / 2))
  }

  return (work) =>
    new Promise((resolve, reject) => {
      if (waiting.length >= mostWaiting) throw unavailable('Too many writes are waiting for the database.', 1)
      if (waiting.length === 0) setImmediate(commit)
      waiting.push({
        reject,
        untilMs: performance.now() + waitMs,
        run(alone) {
          if (alone) {
            const result = work()
            return () => resolve(result)
          }
          try {
            const result = database.savepoint(work)
            return () => resolve(result)
          } catch (error) {
            // A full disk takes the whole transaction with it, the work of the others too.
            if (!database.inTransaction()) throw error
            return () => reject(error)
          }
        },
      })
    })
}

/** Runs as many of these as begin in this time, and at least one. */
function runFor(limitMs: number, jobs: readonly Job[]): (() => void)[] {
  const endMs = performance.now() + limitMs
  const done: (() => void)[] = []
  for (const { run } of jobs) {
    done.push(run(jobs.length === 1))
    if (performance.now() >= endMs) break
  }
  return done
}

/** SQLITE_BUSY, whatever its extension (SQLite, Result and Error Codes). */
function isBusy(error: unknown): boolean {
  const { errcode = 0 } = error as { errcode?: number }
  return (errcode & 0xff) === busy
}
