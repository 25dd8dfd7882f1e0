import sql from 'sql-template-tag'
import type { Database } from './database/database.ts'

/** Ends every grant and every browser session of a user (api.md §2: a new password, suspension, deletion). */
export function endAccess(database: Database, userId: string, now: string): void {
  database.run(sql`update grants set revoked_at = ${now} where user_id = ${userId} and revoked_at is null`)
  database.run(sql`delete from browser_sessions where user_id = ${userId}`)
}
