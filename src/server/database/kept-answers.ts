import sql, { join, type Sql } from 'sql-template-tag'
import type { Database } from './database.ts'
import { contains } from './search.ts'

/** Deletes stored idempotent responses that contain any of these texts or meet a condition. */
export async function forgetAnswers(
  database: Database,
  texts: readonly string[],
  also: Sql = sql`false`,
): Promise<void> {
  const named = texts.map((text) => contains(sql`text`, text.toLowerCase()))
  const folded = database.dialect.folded(sql`coalesce(body, '') || key`)
  // This scans all stored responses. The limit makes SQLite lower-case each once, not once per text.
  await database.run(sql`
    delete from idempotency where (user_id, method, path, key) in (
      select user_id, method, path, key
      from (select *, ${folded} as text from idempotency limit ${Number.MAX_SAFE_INTEGER}) kept
      where ${also} or ${join(named, ' or ')})`)
}
