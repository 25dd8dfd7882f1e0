import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { DatabaseError } from '../database.ts'

/** For another program's lock; the default. */
export const lockWaitMs = 10_000

const logLimitBytes = 16 * 1024 * 1024

/** Pages, each written once by the checkpoint. Leaves room in the log for the transaction that triggers it. */
const checkpointPages = 3000

// secure_delete: an erased person leaves no trace (SQLite, PRAGMA secure_delete).
const writerPragmas = `pragma synchronous = normal; pragma secure_delete = on;
  pragma journal_size_limit = ${logLimitBytes}; pragma wal_autocheckpoint = ${checkpointPages}`

export function connectionTo(path: string, readOnly: boolean, waitMs: number): DatabaseSync {
  const connection = new DatabaseSync(path, {
    readOnly,
    timeout: waitMs,
    enableForeignKeyConstraints: true,
  })
  if (!readOnly) connection.exec(writerPragmas)
  // SQLite's own lower() folds ASCII only.
  connection.function('lower', { deterministic: true }, (text) =>
    typeof text === 'string' ? text.toLowerCase() : text,
  )
  return connection
}

export function databaseErrorOf(path: string, error: unknown): DatabaseError {
  if (error instanceof DatabaseError) return error
  const hint = isDamage(error) ? { hint: 'Restore a backup: learnctl server restore <file>' } : {}
  return new DatabaseError(path, reasonOf(error), { cause: error, ...hint })
}

/** By primary result code (SQLite, Result and Error Codes). */
const reasonByResultCode: Readonly<Record<number, string>> = {
  5: 'is locked by another process',
  6: 'is locked by another process',
  8: 'is read-only',
  10: 'cannot be read or written: the disk reports an error',
  11: 'is damaged, or part of it is missing',
  13: 'cannot be written: the disk is full',
  26: 'is not a SQLite database',
}

const reasonByCode: Readonly<Record<string, string>> = {
  EROFS: 'is read-only',
  ENOSPC: 'cannot be written: the disk is full',
  EACCES: 'cannot be opened: permission denied',
  EPERM: 'cannot be opened: permission denied',
  EISDIR: 'is a directory',
  ENOTDIR: 'cannot be created: part of its path is a file',
  EEXIST: 'cannot be created: part of its path is a file',
}

/** Without stack and code. */
export function reasonOf(error: unknown): string {
  const { code = '', message } = error as { code?: string; message?: string }
  return (
    reasonByResultCode[resultCodeOf(error)] ??
    reasonByCode[code] ??
    `cannot be opened: ${message ?? String(error)}`
  )
}

/** The primary code, the lowest byte of the extended one; 0 for other errors. */
export function resultCodeOf(error: unknown): number {
  const { errcode = 0 } = Object(error) as { errcode?: number }
  return errcode & 0xff
}

export function isDamage(error: unknown): boolean {
  return resultCodeOf(error) === 11
}

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

function logBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
}
