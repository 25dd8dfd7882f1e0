import { randomUUID } from 'node:crypto'
import { closeSync, constants, copyFileSync, fsyncSync, linkSync, openSync, rmSync } from 'node:fs'
import sql from 'sql-template-tag'
import type { Store } from '../database.ts'
import { databaseErrorOf } from './file-fault.ts'
import { openSqlite } from './sqlite.ts'

/** Error codes of file systems without hard links. */
const noLinks: readonly string[] = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']

/** Fills an empty database. */
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
    return await filled(draft, path, fill, temporary)
  } catch (error) {
    throw databaseErrorOf(path, error)
  }
}

async function filled(draft: string, path: string, fill: Fill, temporary: boolean): Promise<boolean> {
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

/** Syncs the file before it gets its final name. */
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
