import sql from 'sql-template-tag'
import { recordChange } from '../changes/change.ts'
import type { Writing } from '../changes/writing.ts'
import type { Row } from '../database/database.ts'

export async function endAccess(call: Writing, userId: string): Promise<void> {
  const { database, now } = call
  const grants = await database.all<Row & { id: string; client_id: string }>(sql`
    update grants set revoked_at = ${now} where user_id = ${userId} and revoked_at is null returning id, client_id`)
  for (const { id, client_id: clientId } of grants) {
    await recordRevocation(call, 'grant.revoked', { id, userId, clientId })
  }
  await database.run(sql`delete from authorization_codes where user_id = ${userId} and grant_id is null`)
  await database.run(sql`update device_codes set decision = 'denied' where user_id = ${userId}`)
  const sessions = await database.all<Row & { id: string }>(
    sql`delete from browser_sessions where user_id = ${userId} returning id`,
  )
  for (const { id } of sessions) {
    await recordChange(call, { action: 'session.ended', id, before: { id, userId }, after: null })
  }
}

/** No later status restores them. */
export async function endKeys(call: Writing, userId: string): Promise<void> {
  const { database, now } = call
  const keys = await database.all<Row & { id: string; name: string }>(sql`
    update api_keys set revoked_at = ${now} where user_id = ${userId} and revoked_at is null returning id, name`)
  for (const { id, name } of keys) await recordRevocation(call, 'key.revoked', { id, userId, name })
}

function recordRevocation(
  call: Writing,
  action: 'grant.revoked' | 'key.revoked',
  thing: { readonly id: string; readonly userId: string; readonly [more: string]: string },
): Promise<void> {
  const [before, after] = [null, call.now].map((revokedAt) => ({ ...thing, revokedAt }))
  return recordChange(call, { action, id: thing.id, before: before ?? null, after: after ?? null })
}

/** Without its value. */
export function recordPassword(call: Writing, id: string): Promise<void> {
  return recordChange(call, { action: 'user.password_changed', id, before: null, after: null })
}
