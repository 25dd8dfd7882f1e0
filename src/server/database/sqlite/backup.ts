import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { backup, DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import { DatabaseError } from '../database.ts'
import { applicationId } from './academy-file.ts'
import { connectionTo, databaseErrorOf, lockWaitMs, resultCodeOf } from './connection.ts'

const pagesAtOnce = 2048
/** SQLITE_BUSY, SQLITE_LOCKED (SQLite, Result and Error Codes). */
const busy = [5, 6]

interface BackupSize {
  readonly bytes: number
}

/**
 * Copies the academy in a file to a new file with SQLite's Online Backup API, while other processes use it, and
 * checks the copy. The copy is one synced file with mode 0600. Throws DatabaseError and errors of `onProgress`, which
 * receives the bytes copied and in all; removes the partial copy then.
 */
export async function backUp(
  from: string,
  to: string,
  onProgress: (bytes: number, total: number) => void = () => {},
): Promise<BackupSize> {
  try {
    closeSync(openSync(to, 'wx', 0o600))
    const bytes = await copyPages(from, to, onProgress)
    checkCopy(to, from)
    const file = openSync(to, 'r+')
    fsyncSync(file)
    closeSync(file)
    return { bytes }
  } catch (error) {
    for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(to + suffix, { force: true })
    // Errors of the source are DatabaseErrors by now.
    throw isSqlite(error) || isSystem(error) ? databaseErrorOf(to, error) : error
  }
}

/** Between attempts to lock a database that is being written to. */
const lockPollMs = 5

/**
 * Overwrites the academy in a file by a backup of it, in one transaction, while this process has it open. Its other
 * connections see the earlier state from then on. Waits for a write to end.
 */
export async function overwrite(path: string, from: string): Promise<void> {
  const source = connectionTo(from, true, lockWaitMs)
  try {
    for (let leftMs = lockWaitMs; ; leftMs -= lockPollMs) {
      try {
        await backup(source, path, { rate: pagesAtOnce })
        return
      } catch (error) {
        // If its first step finds the target locked, Node 24 throws the code of success.
        if (!isSqlite(error) || ![0, ...busy].includes(error.errcode & 0xff) || leftMs <= 0) throw error
        await setTimeout(lockPollMs)
      }
    }
  } finally {
    source.close()
  }
}

async function copyPages(
  from: string,
  to: string,
  onProgress: (bytes: number, total: number) => void,
): Promise<number> {
  const source = reading(from, () => connectionTo(from, true, lockWaitMs))
  try {
    const pageBytes = reading(from, () => {
      if (numberOf(source, 'application_id') !== applicationId) throw notOurs(from)
      // One snapshot for the whole copy: without it each write of another process would restart the copy.
      source.exec('begin')
      source.prepare('select count(*) from sqlite_schema').get()
      return numberOf(source, 'page_size')
    })
    const pages = await backup(source, to, {
      rate: pagesAtOnce,
      progress: ({ totalPages, remainingPages }) =>
        onProgress((totalPages - remainingPages) * pageBytes, totalPages * pageBytes),
    })
    return pages * pageBytes
  } catch (error) {
    throw isSqlite(error) ? databaseErrorOf(isFaultOfTarget(error) ? to : from, error) : error
  } finally {
    source.close()
  }
}

/** Throws DatabaseError about the original if the copy is damaged. */
function checkCopy(path: string, original: string): void {
  const copy = connectionTo(path, false, 0)
  try {
    copy.exec('pragma journal_mode = delete')
    const [row] = copy.prepare('pragma quick_check(1)').all()
    const fault = String(row?.['quick_check']).replace('*** in database main ***\n', '')
    if (fault !== 'ok') throw new DatabaseError(original, `is damaged: ${fault}`)
  } finally {
    copy.close()
  }
}

function numberOf(connection: DatabaseSync, pragma: 'application_id' | 'page_size'): number {
  return Number(connection.prepare(`pragma ${pragma}`).get()?.[pragma])
}

function reading<Result>(path: string, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    throw databaseErrorOf(path, error)
  }
}

interface SqliteFault extends Error {
  readonly errcode: number
}

function isSqlite(error: unknown): error is SqliteFault {
  return error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR'
}

function isSystem(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error
}

/** The source is only read: full, read-only, not opened, or a failed write, fsync, directory fsync or truncate. */
function isFaultOfTarget({ errcode }: SqliteFault): boolean {
  return [8, 13, 14].includes(errcode & 0xff) || [0x30a, 0x40a, 0x50a, 0x60a].includes(errcode)
}

function notOurs(path: string): DatabaseError {
  return new DatabaseError(path, 'is not an academy: it is a SQLite database of another program')
}

const companions = ['-wal', '-shm'] as const
/** SQLITE_CORRUPT, SQLITE_NOTADB: no process can use the file. */
const unreadable = [11, 26]

/** `pids` are known if the system tells. */
class DatabaseInUse extends Error {
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
    // Each connection in WAL mode holds a shared lock, so the journal mode cannot change while there is a second one
    // (SQLite, Write-Ahead Logging). The next program to open the file sets WAL again.
    connection.exec('pragma journal_mode = delete; begin exclusive')
    return connection
  } catch (error) {
    connection?.close()
    const code = resultCodeOf(error)
    if (busy.includes(code)) throw new DatabaseInUse(lockHoldersOf(path))
    if (unreadable.includes(code)) return null
    throw databaseErrorOf(path, error)
  }
}

function lockHoldersOf(path: string): number[] {
  try {
    const { ino } = statSync(path)
    const locks = readFileSync('/proc/locks', 'utf8').matchAll(/^\d+: POSIX .*? (\d+) \w+:\w+:(\d+) /gm)
    return [...new Set([...locks].flatMap(([, pid, inode]) => (Number(inode) === ino ? [Number(pid)] : [])))]
  } catch {
    return []
  }
}

/** The database is unused; a copy-on-write file system shares the blocks. */
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
