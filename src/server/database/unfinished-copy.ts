import sql from 'sql-template-tag'
import { type Database, DatabaseError } from './database.ts'

/** Setting of an academy while it is being copied from another; complete ones have none. */
export const copySetting = 'unfinished_copy'

/** Throws DatabaseError for an incomplete copy of an academy: data would be missing without notice. */
export async function requireNoCopy(database: Database, shown: string): Promise<void> {
  const mark = await database.one(sql`select value from settings where name = ${copySetting}`)
  if (!mark) return
  // This program wrote the JSON.
  const { from } = JSON.parse(String(mark['value'])) as { from: string }
  throw new DatabaseError(shown, `is an unfinished copy of ${from}`, {
    hint: 'Run the same `learnctl server copy` again to continue it, or remove it',
  })
}
