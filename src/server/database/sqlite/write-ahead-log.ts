import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/** Size to which SQLite may truncate the write-ahead log. */
export const logLimitBytes = 16 * 1024 * 1024

/**
 * Pages in the log after which SQLite runs a checkpoint, which syncs the disk and writes each page once. Fits in the
 * limit of the log, with room for the transaction that triggers it.
 */
export const checkpointPages = 3000

/**
 * Checkpoints and truncates a large write-ahead log: a long read prevents SQLite from reusing it. If a reader is
 * still active, the next call does it.
 */
export function shortenLog(path: string, limitBytes = logLimitBytes): void {
  if (logBytes(path) <= limitBytes) return
  const connection = new DatabaseSync(path, { timeout: 0 })
  try {
    // The passive checkpoint blocks no other connection and leaves little to the second, which blocks writes.
    connection.exec('pragma wal_checkpoint(passive); pragma wal_checkpoint(truncate)')
  } finally {
    connection.close()
  }
}

/** Returns the size of the write-ahead log of a database file. */
export function logBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
}
