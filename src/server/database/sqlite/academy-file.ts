import { randomUUID } from 'node:crypto'
import {
  accessSync,
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename } from 'node:path'
import sql, { raw } from 'sql-template-tag'
import { type Database, DatabaseError, type Store } from '../database.ts'
import type { SchemaStep } from '../schema/steps.ts'
import { databaseErrorOf } from './connection.ts'
import { openSqlite, takeIntoUse } from './sqlite.ts'

/** Of file systems without hard links. */
const noLinks: readonly string[] = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']

type Fill = (database: Store, draft: string) => Promise<void>

/**
 * Creates a database file with mode 0600. It is filled under a temporary name and linked in one step, so other
 * processes see the complete file or none, and an empty file is one that lost its content. False if another process
 * was first; its file is left as it is. Throws DatabaseError.
 *
 * @param temporary true to skip fsync, for a file that need not survive a crash of the machine
 */
export async function makeFile(path: string, fill: Fill, temporary = false): Promise<boolean> {
  const draft = `${path}.${randomUUID()}.new`
  try {
    closeSync(openSync(draft, 'wx', 0o600))
    return await fillDraft(draft, path, fill, temporary)
  } catch (error) {
    throw databaseErrorOf(path, error)
  }
}

async function fillDraft(draft: string, path: string, fill: Fill, temporary: boolean): Promise<boolean> {
  try {
    const database = openSqlite(draft)
    try {
      // A draft needs no durability: it is synced once, when it is complete.
      await database.run(sql`pragma synchronous = off`)
      await fill(database, draft)
    } finally {
      await database.close()
    }
    if (!temporary) sync(draft)
    return name(draft, path)
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(draft + suffix, { force: true })
  }
}

function sync(path: string): void {
  const file = openSync(path, 'r+')
  fsyncSync(file)
  closeSync(file)
}

function name(draft: string, path: string): boolean {
  try {
    link(draft, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

function link(draft: string, path: string): void {
  try {
    linkSync(draft, path)
  } catch (error) {
    if (!noLinks.includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    copyFileSync(draft, path, constants.COPYFILE_EXCL)
  }
}

const restore = 'Restore it from a backup, or delete it and run the command again to create a new academy'
const maxLooks = 3
const betweenLooksMs = 20

/**
 * Throws DatabaseError for a file that SQLite would silently treat as empty or as an older state: a file of zero
 * bytes, or one whose write-ahead log is missing.
 */
export function requireContent(path: string): void {
  const file = statSync(path)
  if (file.isDirectory()) throw new DatabaseError(path, 'is a directory')
  // SQLite's own error says only that it could not open the file.
  accessSync(path, constants.R_OK | constants.W_OK)
  if (file.size === 0) {
    throw new DatabaseError(path, 'is an empty file, not an academy', { hint: restore })
  }
  const [log, memory] = [`${path}-wal`, `${path}-shm`]
  // On a clean close SQLite removes the shared memory before the log (SQLite, WAL-mode File Format §1). Another
  // process may be closing right now, so check several times.
  for (let look = 1; exists(memory) && !exists(log); look += 1) {
    if (look === maxLooks)
      throw logLostError(path, `${basename(memory)} is there, but ${basename(log)} is missing`)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, betweenLooksMs)
  }
}

/** Even a new academy has some. */
export async function requireTables(database: Database, path: string): Promise<void> {
  if (Number((await database.one(sql`select count(*) as tables from sqlite_schema`))?.['tables']) > 0) return
  if ((await database.one(sql`pragma journal_mode`))?.['journal_mode'] === 'wal') {
    throw logLostError(path, `it has no tables, and ${basename(path)}-wal is missing`)
  }
  throw new DatabaseError(path, 'is an empty SQLite database, not an academy', { hint: restore })
}

function logLostError(path: string, why: string): DatabaseError {
  return new DatabaseError(path, `is incomplete: ${why}, which holds its latest changes`, {
    hint: `Copy ${basename(path)}-wal from the original folder, or restore a backup`,
  })
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined
}

/** Before each step (counted from 1), which may take minutes. */
export type OnUpgrade = (step: number, steps: number) => Promise<void>

const upgradeCacheKiB = 64 * 1024
const usualCacheKiB = 2000

/** Marks a SQLite file as an academy (SQLite, PRAGMA application_id). */
export const applicationId = 0x6c726e63

export type StepsFrom = (version: number, path: string) => Promise<readonly SchemaStep[]>

/**
 * Migrates an academy in a file to the newest version, step by step; an empty file becomes an academy. Throws
 * DatabaseError for a version that cannot be upgraded, and for a database of another program.
 */
export async function migrate(
  database: Store,
  path: string,
  stepsFrom: StepsFrom,
  onUpgrade?: OnUpgrade,
): Promise<void> {
  const version = await versionOf(database, path)
  const steps = await stepsFrom(version, path)
  await takeIntoUse(database, path)
  // An upgrade changes pages all over the file: a large cache writes each once (in KiB, PRAGMA cache_size).
  if (steps.length > 0) await database.run(raw(`pragma cache_size = -${upgradeCacheKiB}`))
  for (const [index, { from, to, run }] of steps.entries()) {
    if (version > 0) await onUpgrade?.(index + 1, steps.length)
    await database.write(async (transaction) => {
      // Another process may have migrated while this one waited for the write lock.
      if ((await versionOf(transaction, path)) !== from) return
      await run(transaction)
      await transaction.run(raw(`pragma application_id = ${applicationId}`))
      await transaction.run(raw(`pragma user_version = ${to}`))
    })
  }
  if (steps.length > 0) await database.run(raw(`pragma cache_size = -${usualCacheKiB}`))
  // Set after the upgrade, whose sorts exceed memory; the temporary files of normal writes are small.
  await database.run(sql`pragma temp_store = memory`)
}

async function versionOf(database: Database, path: string): Promise<number> {
  const tables = Number((await database.one(sql`select count(*) as tables from sqlite_schema`))?.['tables'])
  const version = Number((await database.one(sql`pragma user_version`))?.['user_version'])
  const application = Number((await database.one(sql`pragma application_id`))?.['application_id'])
  if (tables > 0 && application !== applicationId) {
    throw new DatabaseError(path, 'is a SQLite database of another program')
  }
  return version
}

/** SQLite, Database File Format §1.3. */
const headBytes = 100
const magic = 'SQLite format 3\0'
const versionAt = 60
const applicationAt = 68

/** Judged by the header: recent writes may still be in the log. False for a file that cannot be read. */
export function isLongUpgrade(
  path: string,
  { largeBytes, applicationId, newest }: { largeBytes: number; applicationId: number; newest: number },
): boolean {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch {
    return false
  }
  try {
    const head = Buffer.alloc(headBytes)
    if (fstatSync(file).size < largeBytes || readSync(file, head) < headBytes) return false
    if (head.toString('latin1', 0, magic.length) !== magic) return false
    const version = head.readUInt32BE(versionAt)
    return head.readUInt32BE(applicationAt) === applicationId && version > 0 && version < newest
  } finally {
    closeSync(file)
  }
}
