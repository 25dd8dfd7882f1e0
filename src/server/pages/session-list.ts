import sql, { type Sql } from 'sql-template-tag'
import { digest } from '../access/secret.ts'
import type { Writing } from '../audit/entry.ts'
import { recordChange } from '../changes/change.ts'
import type { Database, Row } from '../database/database.ts'
import { notFound } from '../problem-error.ts'

/** A browser session of a user; times are ISO 8601 in UTC. */
export interface BrowserSession extends Row {
  readonly id: string
  /** `Firefox on Linux` */
  readonly browser: string
  /** `192.0.2.*` */
  readonly place: string
  readonly createdAt: string
  readonly expiresAt: string
  /** 1 for the session of this request. */
  readonly isThis: 0 | 1
}

/** The user, and the session cookie of the request. */
interface Asking {
  readonly database: Database
  readonly userId: string
  readonly token: string
}

const mostPerUser = 50

/** Lists the active sessions of a user, newest first. */
export async function sessionsOf({ database, userId, token }: Asking, now: Date): Promise<BrowserSession[]> {
  return database.all<BrowserSession>(sql`
    select id, browser, place, created_at as "createdAt", expires_at as "expiresAt", hash = ${digest(token)} as "isThis"
    from browser_sessions where user_id = ${userId} and expires_at > ${now.toISOString()}
    order by created_at desc limit ${mostPerUser}`)
}

/** Ends one session of a user. Throws 404. */
export async function endOneSession(call: Writing, userId: string, id: string): Promise<void> {
  const ended = await endThose(call, sql`user_id = ${userId} and id = ${id}`)
  if (ended === 0) throw notFound('session', id)
}

/** Ends all sessions of a user except that of the request. */
export async function endOtherSessions(
  call: Writing,
  { userId, token }: Omit<Asking, 'database'>,
): Promise<void> {
  await endThose(call, sql`user_id = ${userId} and hash <> ${digest(token)}`)
}

/** A session that was ended. */
export interface EndedSession extends Row {
  readonly id: string
  readonly user_id: string
}

async function endThose(call: Writing, which: Sql): Promise<number> {
  const ended = await call.database.all<EndedSession>(
    sql`delete from browser_sessions where ${which} returning id, user_id`,
  )
  for (const one of ended) await recordEnd(call, one)
  return ended.length
}

/** Records the end of a session. */
export function recordEnd(call: Writing, { id, user_id: userId }: EndedSession): Promise<void> {
  return recordChange(call, { action: 'session.ended', id, before: { id, userId }, after: null })
}

/** Ends the oldest sessions of a user who has more than the maximum. */
export async function endOldest(call: Writing, userId: string): Promise<void> {
  await endThose(
    call,
    sql`hash in (select hash from browser_sessions where user_id = ${userId}
      order by created_at desc limit 1000 offset ${mostPerUser})`,
  )
}
