import { randomBytes } from 'node:crypto'
import sql from 'sql-template-tag'
import { type Calendar, calendars } from '../../contract/calendars.ts'
import { calls } from '../../contract/calls.ts'
import { digest } from '../access/secret.ts'
import { recordChange } from '../changes/change.ts'
import type { Database, Row } from '../database/database.ts'
import { during } from '../database/keyset.ts'
import { page } from '../database/page.ts'
import { recordReader } from '../database/record.ts'
import { resolve, resolveFilter } from '../database/reference.ts'
import type { Call } from '../http/handler.ts'
import { bodyOf, routesOf } from '../http/schema-routes.ts'
import { notFound, ProblemError, parentNotFound } from '../problem-error.ts'

const columns = sql`k.id, k.course_id, (select title from courses where id = k.course_id) as course_title,
  k.user_id, (select email from users where id = k.user_id) as user_email, k.last4, k.created_at`

const toCalendar = recordReader<Calendar>(calls.calendars.list)

/** Of a course or a user: each address can be revoked alone. */
const maxCalendars = 20
/** 256 bits, which are stored as a hash (ASVS 5.0, 6.5.2). */
const secretBytes = 32

export const calendarRoutes = routesOf(calendars, {
  list: async ({ database, query }) =>
    page<Row, Calendar>(
      database,
      {
        columns,
        from: sql`calendars k`,
        within: [{ field: 'createdAt', condition: during(sql`k.created_at`, query) }],
        where: [
          query.course_id &&
            sql`k.course_id = ${await resolveFilter(database, 'courses', query.course_id, 'course_id')}`,
          query.user_id &&
            sql`k.user_id = ${await resolveFilter(database, 'users', query.user_id, 'user_id')}`,
        ],
      },
      { sort: '-createdAt', expressions: { createdAt: sql`k.created_at` }, id: sql`k.id` },
      query,
      toCalendar,
    ),

  async create(call) {
    const { database, now } = call
    const { courseId, userId } = bodyOf(call)
    const course = courseId === null ? null : await parentOf(call, 'course', courseId)
    const user = userId === null ? null : await parentOf(call, 'user', userId)
    await requireRoom(database, course, user)
    const secret = randomBytes(secretBytes).toString('base64url')
    const id = call.newId('cal')
    await database.run(sql`
      insert into calendars (id, course_id, user_id, hash, last4, created_at)
      values (${id}, ${course}, ${user}, ${digest(secret)}, ${secret.slice(-4)}, ${now})`)
    const calendar = await findCalendar(database, id)
    await recordChange(call, { action: 'calendar.created', id, before: null, after: calendar })
    return { ...calendar, secretPath: `/calendars/${secret}.ics` }
  },

  async revoke(call) {
    const { database, params } = call
    const before = await findCalendar(database, params.calendarId)
    await database.run(sql`delete from calendars where id = ${before.id}`)
    await recordChange(call, { action: 'calendar.revoked', id: before.id, before, after: null })
    return undefined
  },
})

async function parentOf({ database }: Call, noun: 'course' | 'user', reference: string): Promise<string> {
  const id = await resolve(database, `${noun}s`, reference)
  if (!id) throw parentNotFound(`#/${noun}Id`, noun, reference)
  return id
}

async function requireRoom(database: Database, course: string | null, user: string | null): Promise<void> {
  const own = course === null ? sql`user_id = ${user}` : sql`course_id = ${course}`
  const rows = await database.all(sql`select id from calendars where ${own} limit ${maxCalendars}`)
  if (rows.length < maxCalendars) return
  const detail = `A course or user can have at most ${maxCalendars} calendars; revoke one first.`
  throw new ProblemError('limit_reached', detail)
}

/** Throws 404. */
export async function findCalendar(database: Database, id: string): Promise<Calendar> {
  const row = await database.one(sql`select ${columns} from calendars k where k.id = ${id}`)
  if (!row) throw notFound('calendar', id)
  return toCalendar(row)
}
