import { accessSync, constants, statSync } from 'node:fs'
import { basename } from 'node:path'
import sql from 'sql-template-tag'
import { type Database, DatabaseError } from '../database.ts'

const restore = 'Restore it from a backup, or delete it and run the command again to create a new academy'
const looks = 3
const betweenLooksMs = 20

/**
 * Throws DatabaseError for a file that SQLite would take for an empty database, or for an older state of itself: one
 * without a byte, and one whose changes were in a write-ahead log that is not beside it any more.
 */
export function requireContent(path: string): void {
  const file = statSync(path)
  if (file.isDirectory()) throw new DatabaseError(path, 'is a directory')
  // SQLite says no more than that it could not open the file.
  accessSync(path, constants.R_OK | constants.W_OK)
  if (file.size === 0) {
    throw new DatabaseError(path, 'is an empty file, not an academy', { hint: restore })
  }
  const [log, memory] = [`${path}-wal`, `${path}-shm`]
  // At a clean end SQLite removes the shared memory first, and then the log (SQLite, WAL-mode File Format §1). Another
  // process may be doing that at this very moment: what is seen several times is so.
  for (let look = 1; exists(memory) && !exists(log); look += 1) {
    if (look === looks) throw lostLog(path, `${basename(memory)} is there, but ${basename(log)} is missing`)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, betweenLooksMs)
  }
}

/** Throws DatabaseError for an open database without a table: an academy is never without, not even a new one. */
export async function requireTables(database: Database, path: string): Promise<void> {
  if (Number((await database.one(sql`select count(*) as tables from sqlite_schema`))?.['tables']) > 0) return
  if ((await database.one(sql`pragma journal_mode`))?.['journal_mode'] === 'wal') {
    throw lostLog(path, `it has no tables, and ${basename(path)}-wal is missing`)
  }
  throw new DatabaseError(path, 'is an empty SQLite database, not an academy', { hint: restore })
}

function lostLog(path: string, why: string): DatabaseError {
  return new DatabaseError(path, `is incomplete: ${why}, which holds its latest changes`, {
    hint: `Copy ${basename(path)}-wal from the original folder, or restore a backup`,
  })
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined
}
