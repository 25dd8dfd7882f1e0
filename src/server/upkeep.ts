import { linkAll } from './audit/link.ts'
import { foldChanges } from './counters/fold.ts'
import type { Store } from './database/database.ts'
import { idMaker } from './database/id.ts'
import { sweep } from './database/sweep.ts'
import { finishRegrading } from './grades/regrade.ts'
import { tidyOutbox } from './webhooks/outbox/tidy.ts'

/** Ends work that is done again and again; waits for what is under way. */
export type Stop = () => Promise<void>

/** Calls something once, later. */
export type Later = (work: () => void, ms: number) => NodeJS.Timeout

const sweptEveryMs = 60_000
/** Whoever reads counters adds up the changes that are not folded into them yet; audit entries are told as not linked yet. */
const broughtInEveryMs = 5000

const later: Later = (work, ms) => setTimeout(work, ms).unref()

/**
 * Keeps a database in order while it is served, outside all requests: what has expired is deleted, and on an engine with
 * many writers their changes are brought into the counters, and their audit entries linked. Several servers may do so at the same time.
 */
export function keepInOrder(database: Store, now: () => Date, wait = later): Stop {
  const stops = [regularly(sweptEveryMs, () => sweepAll(database, now), wait)]
  if (database.dialect.hasManyWriters)
    stops.push(regularly(broughtInEveryMs, () => bringIn(database, now), wait))
  return async () => {
    await Promise.all(stops.map((stop) => stop()))
  }
}

async function sweepAll(database: Store, clock: () => Date): Promise<void> {
  const now = clock()
  await sweep(database, now)
  await finishRegrading({ database, now: clock, newId: idMaker(clock) })
  await tidyOutbox(database, now)
  // A copy of an academy that had many writers may have entries that were not linked yet.
  await linkAll(database)
}

async function bringIn(database: Store, now: () => Date): Promise<void> {
  await linkAll(database)
  const time = now().toISOString()
  while (await database.write((transaction) => foldChanges({ database: transaction, now: time })));
}

/**
 * Does something again and again, about so often and never twice at a time. What fails, as on a full disk, is left to the
 * next time.
 */
function regularly(everyMs: number, work: () => Promise<void>, wait: Later): Stop {
  let working: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  let isStopped = false

  function plan(): void {
    if (isStopped) return
    // Servers on one database that were started together are not to do it at the same time.
    timer = wait(run, everyMs * (0.75 + Math.random() / 2))
  }

  function run(): void {
    working = work()
      .catch(() => {})
      .then(plan)
  }

  plan()
  return () => {
    isStopped = true
    clearTimeout(timer)
    return working
  }
}
