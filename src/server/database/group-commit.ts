interface Job {
  readonly run: (alone: boolean) => () => void
  readonly reject: (error: unknown) => void
}

/** What grouping needs of a database. */
interface Transactions {
  transaction<Result>(work: () => Result): Result
  savepoint<Result>(work: () => Result): Result
  /** False outside a transaction, and once the database has rolled one back by itself. */
  inTransaction(): boolean
}

/**
 * Writes that come in the same turn of the event loop share one transaction, each on a savepoint of its own: one
 * that throws undoes itself alone. Nobody is answered before the commit; where that fails, all are refused.
 */
export function groupCommit(database: Transactions): <Result>(work: () => Result) => Promise<Result> {
  let waiting: Job[] = []

  function commit(): void {
    const jobs = waiting
    waiting = []
    try {
      const settle = database.transaction(() => jobs.map(({ run }) => run(jobs.length === 1)))
      for (const answer of settle) answer()
    } catch (error) {
      for (const { reject } of jobs) reject(error)
    }
  }

  return (work) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(commit)
      waiting.push({
        reject,
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
