import { hash } from 'node:crypto'
import sql from 'sql-template-tag'
import { digest } from '../access/secret.ts'
import { problemReply } from '../http/problem-reply.ts'
import type { Reply } from '../http/reply.ts'
import type { Visit, WebRoute } from '../http/web-route.ts'
import { ProblemError } from '../problem-error.ts'
import { type FoundCalendar, readCalendar } from './calendar-events.ts'
import { formatCalendar } from './icalendar.ts'

/** A calendar at its secret address. The address is the only credential: programs that read calendars have no other. */
export const calendarRoute: WebRoute = {
  method: 'GET',
  path: '/calendars/:name',
  refuse: problemReply,
  handle: (visit) => ({ reply: () => showCalendar(visit) }),
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
