import type { Store } from './database.ts'

const secondMs = 1000
const mostTries = 3600

/** Calls something back later. */
export type Later = (work: () => Promise<void>, ms: number) => void

const whileRunning: Later = (work, ms) => {
  setTimeout(() => void work(), ms).unref()
}

/** Databases that wait for those who read an earlier state, and how often they may still look whether these are done. */
const waiting = new WeakMap<Store, number>()

/**
 * Takes what was deleted out of the log beside the database as well: at once, or as soon as nobody reads an earlier state
 * any more. However much is deleted meanwhile, one look a second is enough for all of it. The last program to close the
 * database takes the whole log away.
 */
export async function removeTraces(database: Store, later: Later = whileRunning): Promise<void> {
  const isWaiting = waiting.has(database)
  waiting.set(database, mostTries)
  if (!isWaiting) await look(database, later)
}

async function look(database: Store, later: Later): Promise<void> {
  const left = (waiting.get(database) ?? 0) - 1
  waiting.set(database, left)
  if (left > 0 && !(await isDone(database))) later(() => look(database, later), secondMs)
  else waiting.delete(database)
}

async function isDone(database: Store): Promise<boolean> {
  try {
    return await database.emptyLog()
  } catch {
    // Closed meanwhile, or a disk that fails: what is deleted is deleted.
    return true
  }
}
