import type { Database } from './database.ts'

const secondMs = 1000
const mostTries = 3600

/** Calls something back later. */
export type Later = (work: () => void, ms: number) => void

const whileRunning: Later = (work, ms) => {
  setTimeout(work, ms).unref()
}

/**
 * Takes what was deleted out of the log beside the database as well: at once, or as soon as nobody reads an earlier state
 * any more. The last program to close the database takes the whole log away.
 */
export function removeTraces(database: Database, later: Later = whileRunning, tries = mostTries): void {
  if (isDone(database) || tries <= 1) return
  later(() => removeTraces(database, later, tries - 1), secondMs)
}

function isDone(database: Database): boolean {
  try {
    return database.emptyLog()
  } catch {
    // Closed meanwhile, or a disk that fails: what is deleted is deleted.
    return true
  }
}
