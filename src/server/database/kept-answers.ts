import sql, { join, type Sql } from 'sql-template-tag'
import type { Database } from './database.ts'
import { contains } from './search.ts'

/** Deletes the answers kept for repeated requests in which any of these texts is, and those that a condition picks. */
export async function forgetAnswers(
  database: Database,
  texts: readonly string[],
  also: Sql = sql`false`,
): Promise<void> {
  const named = texts.map((text) => contains(sql`text`, text.toLowerCase()))
  const folded = database.dialect.folded(sql`coalesce(body, '') || key`)
  // All that were kept have to be looked through. With a limit, each is made lower case once, not for each text.
  await database.run(sql`
    delete from idempotency where (user_id, method, path, key) in (
      select user_id, method, path, key
      from (select *, ${folded} as text from idempotency limit ${Number.MAX_SAFE_INTEGER}) kept
      where ${also} or ${join(named, ' or ')})`)
}
