import sql, { type Sql } from 'sql-template-tag'
import type { Database, Searched } from './database.ts'
import type { Found } from './page.ts'
import { searchNeedle } from './text-key.ts'

/**
 * Finds rows of a table whose search key contains a text; undefined for white space alone. `key` is the search key
 * column.
 */
export async function found(
  database: Database,
  table: Searched,
  key: Sql,
  text: string,
): Promise<Found | undefined> {
  const [needle, test] = [searchNeedle(text), searchTest(key, text)]
  if (needle === undefined || test === undefined) return undefined
  return { ...(await database.dialect.search.find(database, table, needle)), test }
}

/** Returns the condition that a search key contains a text; undefined for white space alone. */
export function searchTest(key: Sql, text: string): Sql | undefined {
  const needle = searchNeedle(text)
  return needle === undefined ? undefined : contains(key, needle)
}

/** Returns the condition that a text contains another, given in lower case. */
export function contains(text: Sql, part: string): Sql {
  return sql`${text} like ${`%${part.replace(/[\\%_]/g, '\\$&')}%`} escape '\\'`
}
