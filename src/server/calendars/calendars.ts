import { hash, randomBytes } from 'node:crypto'
import sql, { type Sql } from 'sql-template-tag'
import { type Calendar, calendars } from '../../contract/calendars.ts'
import { calls } from '../../contract/calls.ts'
import { digest } from '../access/secret.ts'
import { recordChange } from '../changes/change.ts'
import { isPublished } from '../courses/lesson-row.ts'
import type { Database, Row } from '../database/database.ts'
import { during, page } from '../database/page.ts'
import { recordReader } from '../database/record.ts'
import { resolve, resolveFilter } from '../database/reference.ts'
import type { Call } from '../http/handler.ts'
import type { Reply } from '../http/reply.ts'
import { bodyOf, routesOf } from '../http/schema-routes.ts'
import type { Visit, WebRoute } from '../http/web-route.ts'
import { notFound, ProblemError, parentNotFound } from '../problem-error.ts'

const columns = sql`k.id, k.course_id, (select title from courses where id = k.course_id) as course_title,
  k.user_id, (select email from users where id = k.user_id) as user_email, k.last4, k.created_at`

const toCalendar = recordReader<Calendar>(calls.calendars.list)

/** Of a course or a user: each address can be revoked alone. */
const maxCalendars = 20
/** Stored as a hash (ASVS 5.0, 6.5.2). */
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

/** The address is the only credential: programs that read calendars have no other. */
export const calendarRoute: WebRoute = {
  method: 'GET',
  path: '/calendars/:name',
  handle: showCalendar,
}

/** Programs ask again after a quarter of an hour at the earliest; shared caches keep nothing. */
const caching = { 'cache-control': 'private, max-age=900' }

async function showCalendar({ database, params, request }: Visit): Promise<Reply> {
  const [, secret] = /^([\w-]{43})\.ics$/.exec(params['name'] ?? '') ?? []
  const content = secret === undefined ? null : await readBySecret(database, secret)
  // The same for a wrong, a revoked and an erased address.
  if (!content) throw new ProblemError('not_found', 'There is no calendar at this address.')
  const body = formatCalendar(content.name, content.events)
  const etag = `"${hash('sha256', body, 'base64url').slice(0, 22)}"`
  const headers = { ...caching, etag }
  const known = request.raw.headers['if-none-match'] ?? ''
  if (known.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)) {
    return { status: 304, headers, body: null }
  }
  return { status: 200, headers: { ...headers, 'content-type': 'text/calendar; charset=utf-8' }, body }
}

async function readBySecret(database: Visit['database'], secret: string) {
  const found = await database.one<FoundCalendar>(
    sql`select id, course_id, user_id from calendars where hash = ${digest(secret)}`,
  )
  return found ? readCalendar(database, found) : null
}

interface FoundCalendar extends Row {
  readonly id: string
  readonly course_id: string | null
  readonly user_id: string | null
}

interface CalendarContent {
  readonly name: string
  readonly events: readonly CalendarEvent[]
}

/** Courses of a user, and lessons of a calendar; the lessons that are due last are kept. */
const [maxCourses, maxLessons] = [200, 2000] as const

interface DatedCourse extends Row {
  readonly id: string
  readonly title: string
  readonly term: string | null
  /** Days; '' where the term is open. */
  readonly start_date: string | null
  readonly end_date: string | null
  readonly course_updated_at: string
  readonly term_updated_at: string | null
}

/** Null if the course or user is gone, or the user may not sign in. */
async function readCalendar(
  database: Database,
  { course_id: courseId, user_id: userId }: FoundCalendar,
): Promise<CalendarContent | null> {
  if (courseId !== null) {
    const course = await database.one<Row & { title: string }>(
      sql`select title from courses where id = ${courseId}`,
    )
    return course ? { name: course.title, events: await eventsOf(database, sql`${courseId}`) } : null
  }
  const user = await database.one(sql`select 1 from users where id = ${userId} and status = 'active'`)
  if (!user) return null
  const enrolled = sql`
    select course_id from enrollments where user_id = ${userId} and status in ('active', 'completed')`
  return { name: 'Courses', events: await eventsOf(database, enrolled) }
}

interface DueLesson extends Row {
  readonly id: string
  readonly title: string
  readonly course_title: string
  readonly due_at: string
  readonly updated_at: string
}

async function eventsOf(database: Database, courseIds: Sql): Promise<CalendarEvent[]> {
  const courses = await database.all<DatedCourse>(sql`
    select c.id, c.title, t.name as term, t.start_date, t.end_date, c.updated_at as course_updated_at,
      t.updated_at as term_updated_at
    from courses c left join terms t on t.id = c.term_id
    where c.id in (${courseIds}) and c.status = 'published' order by c.id limit ${maxCourses}`)
  const lessons = await database.all<DueLesson>(sql`
    select l.id, l.title, c.title as course_title, l.due_at, l.updated_at
    from lessons l join courses c on c.id = l.course_id
    where l.course_id in (${courseIds}) and l.due_at is not null and ${isPublished}
    order by l.due_at desc, l.id limit ${maxLessons}`)
  return [...courses.flatMap(termEvents), ...lessons.toReversed().map(dueEvent)]
}

function termEvents(course: DatedCourse): CalendarEvent[] {
  const { id, title, term, start_date: start, end_date: end } = course
  const changedAt = [course.course_updated_at, course.term_updated_at ?? ''].toSorted().at(-1) ?? ''
  const event = (part: string, at: string, verb: string): CalendarEvent => ({
    uid: `${id}.${part}@learnctl`,
    at,
    summary: `${title} ${verb}`,
    ...(term !== null && { description: term }),
    changedAt,
  })
  return [...(start ? [event('begin', start, 'begins')] : []), ...(end ? [event('end', end, 'ends')] : [])]
}

function dueEvent({
  id,
  title,
  course_title: course,
  due_at: at,
  updated_at: changedAt,
}: DueLesson): CalendarEvent {
  return { uid: `${id}.due@learnctl`, at, summary: `${title} is due`, description: course, changedAt }
}

interface CalendarEvent {
  /** Identifies the event at all times and in all calendars (RFC 5545 §3.8.4.7). */
  readonly uid: string
  /** `2026-01-31` for a whole day, or ISO 8601 in UTC. */
  readonly at: string
  readonly summary: string
  readonly description?: string
  /** Of the last change, ISO 8601 in UTC. */
  readonly changedAt: string
}

/** RFC 5545; the same events give the same text. */
export function formatCalendar(name: string, events: readonly CalendarEvent[]): string {
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//learnctl//learnctl//EN',
    'CALSCALE:GREGORIAN',
    // RFC 7986 §5.1 and §5.7, and the older property for programs that do not know it.
    `NAME:${escapeText(name)}`,
    `X-WR-CALNAME:${escapeText(name)}`,
    'REFRESH-INTERVAL;VALUE=DURATION:PT1H',
    'X-PUBLISHED-TTL:PT1H',
    ...events.flatMap(linesOf),
    'END:VCALENDAR',
  ]
  return lines.map((line) => `${foldLine(line)}\r\n`).join('')
}

function linesOf({ uid, at, summary, description, changedAt }: CalendarEvent): string[] {
  return [
    'BEGIN:VEVENT',
    `UID:${uid}`,
    // Without METHOD, DTSTAMP is the time of the last change (RFC 5545 §3.8.7.2).
    `DTSTAMP:${timeText(changedAt)}`,
    `LAST-MODIFIED:${timeText(changedAt)}`,
    `SEQUENCE:${sequenceOf(changedAt)}`,
    at.length === 10 ? `DTSTART;VALUE=DATE:${at.replaceAll('-', '')}` : `DTSTART:${timeText(at)}`,
    `SUMMARY:${escapeText(summary)}`,
    ...(description === undefined ? [] : [`DESCRIPTION:${escapeText(description)}`]),
    'TRANSP:TRANSPARENT',
    'END:VEVENT',
  ]
}

const sequenceStartMs = Date.UTC(2020, 0)

/** Grows with each change, also if an event gets its date from another record. */
function sequenceOf(changedAt: string): number {
  return Math.max(0, Math.floor((Date.parse(changedAt) - sequenceStartMs) / 1000))
}

/** In UTC (RFC 5545 §3.3.5). */
function timeText(time: string): string {
  return `${time.slice(0, 19).replace(/[-:]/g, '')}Z`
}

/** RFC 5545 §3.3.11; leaves out control characters. */
function escapeText(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replace(/(?!\n)\p{Cc}/gu, ' ')
    .replace(/[\\;,]/g, '\\$&')
    .replaceAll('\n', '\\n')
}

const maxLineBytes = 75

/** At 75 octets, between characters (RFC 5545 §3.1). */
function foldLine(line: string): string {
  if (Buffer.byteLength(line) <= maxLineBytes) return line
  let folded = ''
  let bytes = 0
  for (const character of line) {
    const size = Buffer.byteLength(character)
    if (bytes + size > maxLineBytes) {
      folded += '\r\n '
      bytes = 1
    }
    folded += character
    bytes += size
  }
  return folded
}
