import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import sql, { raw } from 'sql-template-tag'
import { type Database, DatabaseError, type Store } from '../database.ts'
import { type SchemaStep, stepsFrom } from '../schema/steps.ts'
import { takeIntoUse } from './sqlite.ts'

/** Before each step (counted from 1), which may take minutes. */
export type OnUpgrade = (step: number, steps: number) => Promise<void>

const upgradeCacheKiB = 64 * 1024
/** SQLite's default. */
const usualCacheKiB = 2000

/** Marks a SQLite file as an academy (SQLite, PRAGMA application_id). */
export const applicationId = 0x6c726e63

/**
 * Migrates an academy in a file to the newest version, step by step; an empty file becomes an academy. Throws
 * DatabaseError for a version that cannot be upgraded, and for a database of another program.
 */
export async function migrate(
  database: Store,
  path: string,
  all: readonly SchemaStep[],
  onUpgrade?: OnUpgrade,
): Promise<void> {
  const version = await versionOf(database, path)
  const steps = stepsFrom(version, all, path)
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

/** Length of the header of a SQLite file, and offsets in it (SQLite, Database File Format §1.3). */
const headBytes = 100
const magic = 'SQLite format 3\0'
const versionAt = 60
const applicationAt = 68

/**
 * True if the file has at least this size and an earlier schema version, judged by its header: recent writes may
 * still be in the log. False for a file that cannot be read.
 */
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
