import type { Store } from './database.ts'

const secondMs = 1000
const mostTries = 3600

/** Schedules a callback. */
export type Later = (work: () => Promise<void>, ms: number) => void

const whileRunning: Later = (work, ms) => {
  setTimeout(() => void work(), ms).unref()
}

/** Databases that wait for readers of an earlier state, with the number of remaining checks. */
const waiting = new WeakMap<Store, number>()

/**
 * Removes deleted data from the write-ahead log as well: at once, or as soon as no reader uses an earlier state. One
 * check a second serves all deletions. The last program to close the database removes the log anyway.
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
    // The database was closed or the disk failed; the deletion itself is committed.
    return true
  }
}
