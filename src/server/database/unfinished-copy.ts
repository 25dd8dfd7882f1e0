import sql from 'sql-template-tag'
import { type Database, DatabaseError } from './database.ts'

/** The setting that stands in an academy while it is copied from another; a new academy and a whole copy have none. */
export const copySetting = 'unfinished_copy'

/** Throws DatabaseError for an academy that is half a copy: whoever used it would miss what is not there yet. */
export async function requireNoCopy(database: Database, shown: string): Promise<void> {
  const mark = await database.one(sql`select value from settings where name = ${copySetting}`)
  if (!mark) return
  // The mark is JSON that this program wrote.
  const { from } = JSON.parse(String(mark['value'])) as { from: string }
  throw new DatabaseError(shown, `is an unfinished copy of ${from}`, {
    hint: 'Run the same `learnctl server copy` again to continue it, or remove it',
  })
}
