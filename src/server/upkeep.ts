import { linkAll } from './changes/audit-entry.ts'
import { sweepRowChanges } from './changes/row-changes.ts'
import type { Store } from './database/database.ts'
import { idMaker } from './database/id.ts'
import { fillSearchIndex } from './database/search.ts'
import { sweep } from './database/sweep.ts'
import { queueDigests } from './digests.ts'
import { tidyOutbox } from './events/messages.ts'

export type Stop = () => Promise<void>

export type Later = (work: () => void, ms: number) => NodeJS.Timeout

const sweepIntervalMs = 60_000
/** Until then audit entries are shown as not linked yet, and searches look at new rows one by one. */
const catchUpIntervalMs = 5000

const later: Later = (work, ms) => setTimeout(work, ms).unref()

/**
 * Maintains a database while it is served: deletes expired rows, fills the search index and, on an engine with many
 * writers, links audit entries. Several servers may do so concurrently.
 */
export function keepInOrder(database: Store, now: () => Date, wait = later): Stop {
  const catchUp = async () => {
    if (database.dialect.hasManyWriters) await linkAll(database)
    await fillSearchIndex(database)
  }
  const stops = [
    repeat(sweepIntervalMs, () => sweepAll(database, now), wait),
    repeat(catchUpIntervalMs, catchUp, wait),
  ]
  return async () => {
    await Promise.all(stops.map((stop) => stop()))
  }
}

async function sweepAll(database: Store, clock: () => Date): Promise<void> {
  const now = clock()
  await sweep(database, now)
  await sweepRowChanges(database, now)
  await queueDigests({ database, now, newId: idMaker(clock) })
  await tidyOutbox(database, now)
  // A copy of an academy with many writers may have unlinked entries.
  await linkAll(database)
}

/**
 * Repeats work at about this interval, never concurrently. An error, such as a full disk, is left to the next
 * time.
 */
function repeat(everyMs: number, work: () => Promise<void>, wait: Later): Stop {
  let working: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  let isStopped = false

  function plan(): void {
    if (isStopped) return
    // A random delay, so that servers started together do not work at the same time.
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
