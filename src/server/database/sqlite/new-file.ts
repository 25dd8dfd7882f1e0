import { randomUUID } from 'node:crypto'
import { closeSync, constants, copyFileSync, fsyncSync, linkSync, openSync, rmSync } from 'node:fs'
import sql from 'sql-template-tag'
import type { Store } from '../database.ts'
import { databaseErrorOf } from './file-fault.ts'
import { openSqlite } from './sqlite.ts'

/** What a file system says that has no hard links. */
const noLinks: readonly string[] = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']

/** Makes an academy of an empty database. */
type Fill = (database: Store, draft: string) => Promise<void>

/**
 * Makes a database file, of mode 0600. It is filled under another name and gets its own in one step: whoever looks sees
 * all of it or nothing, so that a file that is there and holds nothing has lost what it held. False where another
 * process was first, whose file is left as it is. Throws DatabaseError.
 *
 * @param temporary true for a file that need not outlive a crash of the machine: nothing waits for the disk
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
      // A draft that a crash leaves is nobody's: it goes to the disk once, as a whole.
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

/** To the disk with it, before its name says that it is there. */
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
