import {
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { databaseErrorOf } from './file-fault.ts'

/** Suffixes of the files that SQLite keeps beside a database. */
const companions = ['-wal', '-shm'] as const
/** SQLITE_BUSY, SQLITE_LOCKED (SQLite, Result and Error Codes). */
const busy = [5, 6]
/** SQLITE_CORRUPT, SQLITE_NOTADB: no process can use the file. */
const unreadable = [11, 26]

/** Another process has the database open; lists the processes if the system tells. */
export class DatabaseInUse extends Error {
  override readonly name = 'DatabaseInUse'
  readonly pids: readonly number[]

  constructor(pids: readonly number[]) {
    super('the database is in use')
    this.pids = pids
  }
}

/**
 * Runs `work` with exclusive use of a database file, after a checkpoint of its log. A file that is not a valid
 * database counts as unused. Throws DatabaseInUse and DatabaseError.
 */
export function withSoleUse(path: string, work: () => void): void {
  const connection = existsSync(path) ? take(path) : null
  try {
    work()
  } finally {
    connection?.close()
  }
}

function take(path: string): DatabaseSync | null {
  let connection: DatabaseSync | undefined
  try {
    connection = new DatabaseSync(path, { timeout: 0 })
    // Each connection in WAL mode holds a shared lock, so the journal mode cannot change while there is a second
    // connection (SQLite, Write-Ahead Logging). The next program to open the file sets WAL again.
    connection.exec('pragma journal_mode = delete; begin exclusive')
    return connection
  } catch (error) {
    connection?.close()
    // The lowest byte is the primary result code.
    const code = Number((error as { errcode?: number }).errcode) & 0xff
    if (busy.includes(code)) throw new DatabaseInUse(holdersOf(path))
    if (unreadable.includes(code)) return null
    throw databaseErrorOf(path, error)
  }
}

/** Returns the ids of processes that hold a lock on a file, on systems with proc_locks(5). */
function holdersOf(path: string): number[] {
  try {
    const { ino } = statSync(path)
    const locks = readFileSync('/proc/locks', 'utf8').matchAll(/^\d+: POSIX .*? (\d+) \w+:\w+:(\d+) /gm)
    return [...new Set([...locks].flatMap(([, pid, inode]) => (Number(inode) === ino ? [Number(pid)] : [])))]
  } catch {
    return []
  }
}

/** Copies an unused database to a new file; a copy-on-write file system shares the blocks. */
export function cloneFile(from: string, to: string): void {
  copyFileSync(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
}

/**
 * Replaces the database at `path` by another in one step; the old one is moved to `former` or deleted. Throws as
 * withSoleUse does.
 */
export function replaceDatabase(path: string, draft: string, former?: string): void {
  withSoleUse(path, () => {
    if (former !== undefined && existsSync(path)) linkSync(path, former)
    for (const suffix of companions) {
      if (former !== undefined && existsSync(path + suffix)) renameSync(path + suffix, former + suffix)
      else rmSync(path + suffix, { force: true })
    }
    renameSync(draft, path)
  })
}
