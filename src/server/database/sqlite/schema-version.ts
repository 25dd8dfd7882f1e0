import sql, { raw } from 'sql-template-tag'
import { type Database, DatabaseError, type Store } from '../database.ts'
import { type SchemaStep, stepsFrom } from '../schema/steps.ts'
import { takeIntoUse } from './sqlite.ts'

/** Called before each step of an upgrade (counted from 1), which may take minutes. */
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
