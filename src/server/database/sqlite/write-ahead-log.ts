import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/** What SQLite may keep of a write-ahead log that it does not need. */
export const logLimitBytes = 16 * 1024 * 1024

/**
 * Pages in the log after which SQLite brings them into the file, and waits for the disk: it does so for each page once,
 * however often it was written. As many as the log may keep, with room for the transaction that comes to that.
 */
export const checkpointPages = 3000

/**
 * Brings what is in a large write-ahead log into the file, and gives back its room: a reader that reads for long keeps
 * it from being used again. Where somebody still reads, this is left to the next one.
 */
export function shortenLog(path: string, limitBytes = logLimitBytes): void {
  if (logBytes(path) <= limitBytes) return
  const connection = new DatabaseSync(path, { timeout: 0 })
  try {
    // The first one holds up nobody, and leaves little to the second, for which writes have to wait.
    connection.exec('pragma wal_checkpoint(passive); pragma wal_checkpoint(truncate)')
  } finally {
    connection.close()
  }
}

/** The size of the write-ahead log beside a database file. */
export function logBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
}
