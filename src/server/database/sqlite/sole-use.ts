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

/** What SQLite keeps beside a database. */
const companions = ['-wal', '-shm'] as const
/** SQLITE_BUSY, SQLITE_LOCKED (SQLite, Result and Error Codes). */
const busy = [5, 6]
/** SQLITE_CORRUPT, SQLITE_NOTADB: nobody can use it. */
const unreadable = [11, 26]

/** Another process has the database open; which ones, as far as the system tells. */
export class DatabaseInUse extends Error {
  override readonly name = 'DatabaseInUse'
  readonly pids: readonly number[]

  constructor(pids: readonly number[]) {
    super('the database is in use')
    this.pids = pids
  }
}

/**
 * Runs `work` while nobody else has the database file open, with all that is committed in the file itself. A file that is
 * no database that could be opened is nobody's. Throws DatabaseInUse and DatabaseError.
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
    // Whoever has a database open whose journal is a write-ahead log holds a lock on it: the journal cannot be changed
    // as long as there is a second one (SQLite, Write-Ahead Logging). Who opens the file next sets it again.
    connection.exec('pragma journal_mode = delete; begin exclusive')
    return connection
  } catch (error) {
    connection?.close()
    // The lowest byte says what it is.
    const code = Number((error as { errcode?: number }).errcode) & 0xff
    if (busy.includes(code)) throw new DatabaseInUse(holdersOf(path))
    if (unreadable.includes(code)) return null
    throw databaseErrorOf(path, error)
  }
}

/** The processes that hold a lock on a file, where the system has a list of them (proc_locks(5)). */
function holdersOf(path: string): number[] {
  try {
    const { ino } = statSync(path)
    const locks = readFileSync('/proc/locks', 'utf8').matchAll(/^\d+: POSIX .*? (\d+) \w+:\w+:(\d+) /gm)
    return [...new Set([...locks].flatMap(([, pid, inode]) => (Number(inode) === ino ? [Number(pid)] : [])))]
  } catch {
    return []
  }
}

/** Copies a database that nobody else uses to a file that is not there yet: at once, where the file system shares blocks. */
export function cloneFile(from: string, to: string): void {
  copyFileSync(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
}

/**
 * Puts a database in the place of the one at `path`, in one step; that one goes on as `former`, or is gone. Throws as
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
