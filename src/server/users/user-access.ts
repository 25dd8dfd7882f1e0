import sql from 'sql-template-tag'
import type { Database } from '../database/database.ts'

/**
 * Ends every grant and every browser session of a user, and what was allowed in their name but not fetched yet: after
 * a new password, suspension or deletion.
 */
export async function endAccess(database: Database, userId: string, now: string): Promise<void> {
  await database.run(
    sql`update grants set revoked_at = ${now} where user_id = ${userId} and revoked_at is null`,
  )
  await database.run(sql`delete from authorization_codes where user_id = ${userId} and grant_id is null`)
  await database.run(sql`update device_codes set decision = 'denied' where user_id = ${userId}`)
  await database.run(sql`delete from browser_sessions where user_id = ${userId}`)
}

/** Ends every API key of a user for good: no later status brings one back. */
export async function endKeys(database: Database, userId: string, now: string): Promise<void> {
  await database.run(
    sql`update api_keys set revoked_at = ${now} where user_id = ${userId} and revoked_at is null`,
  )
}
