import { resolve } from 'node:path'
import type { HttpHeaders, HttpRequest, HttpResponse } from '../../../src/contract/http.ts'

/** A record as its platform writes it. */
type Row = Record<string, unknown>
type Kind = 'courses' | 'lessons' | 'users' | 'activity'

/** A request as the platform received it. */
export interface Seen extends HttpRequest {
  readonly path: string
  readonly query: URLSearchParams
  /** `POST /api/courses`. */
  readonly line: string
}

/** How a platform writes what every platform of these tests does. */
interface Style {
  readonly host: string
  /** Name of its file in docs/platforms; null for a platform that needs none. */
  readonly file: string | null
  readonly credential: readonly [header: string, value: string]
  readonly path: Readonly<Record<Kind | 'profile', string>>
  /** Path of the progress of a learner. */
  readonly progress: RegExp
  readonly id: Readonly<Record<Kind, string>>
  /** Fields of the activity: learner, course, percentage, time. */
  readonly activity: readonly [string, string, string, string]
  /** Names of the parameters for the first and last day. */
  readonly days: readonly [string, string]
  readonly newId: (kind: Kind, n: number) => string | number
  readonly percentage: (percentage: number) => unknown
  readonly time: (local: string) => unknown
  readonly rows: Readonly<Record<'courses' | 'users', (n: number) => Row>>
  readonly page: (kind: Kind, all: readonly Row[], seen: Seen) => { body: unknown; link?: string }
  readonly record: (row: Row) => unknown
  readonly refusal: (status: number, message: string) => HttpResponse
  /** Answer to a change of a course (default the record). */
  readonly changed?: HttpResponse
}

/** A platform in memory. */
export type DescribedPlatform = ReturnType<typeof describedPlatform>

/** Returns a JSON response. */
export function json(status: number, body: unknown, headers: HttpHeaders = {}): HttpResponse {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }
}

/** Times of the activity at the beginning, without a zone unless they name one: the middle two are on 3 February in Berlin. */
const activityTimes = [
  '2026-02-02T23:30:00',
  '2026-02-03T00:10:00',
  '2026-02-03T23:30:00',
  '2026-02-04T00:10:00',
]

type StyleName = keyof typeof styles
export const styleNames = ['page-numbers', 'odata', 'hal', 'natural'] as const

/** Makes a platform of a style with `courses` courses and three users. */
export function describedPlatform(name: StyleName, courses = 7) {
  const style: Style = styles[name]
  const key = 'key-of-the-tests'
  const many = (kind: 'courses' | 'users', count: number) =>
    Array.from({ length: count }, (_, n) => ({
      [style.id[kind]]: style.newId(kind, n + 1),
      ...style.rows[kind](n + 1),
    }))
  const [learner, course, percent, time] = style.activity
  const store: Record<Kind, Row[]> = {
    courses: many('courses', courses),
    users: many('users', 3),
    lessons: [],
    activity: activityTimes.map((at, n) => ({
      [learner]: style.newId('users', 2),
      [course]: style.newId('courses', n + 1),
      [percent]: style.percentage(12.5 * (n + 1)),
      [time]: style.time(at),
    })),
  }
  /** Switches and replacements of a test. */
  const options: {
    ignoresDays?: boolean
    /** Answers instead of the platform; undefined passes the request on. */
    answer?: (seen: Seen, usual: () => HttpResponse) => HttpResponse | undefined
  } = {}
  const seen: Seen[] = []
  const answers = new Map<string, HttpResponse>()
  const lagging = new Set<Row>()

  function answer(request: Seen): HttpResponse {
    const { method, path, headers, body } = request
    const [header, prefix] = style.credential
    if (headers[header] !== prefix + key) return style.refusal(401, 'Sign in first')
    if (path === style.path.profile) return json(200, style.record(store.users[0] ?? {}))
    const sent = typeof body === 'string' ? (JSON.parse(body) as Row) : {}
    const learnerId = style.progress.exec(path)?.[1]
    if (learnerId !== undefined) {
      const row = { [learner]: idOf(learnerId), ...sent }
      store.activity.push(row)
      return json(200, style.record(row))
    }
    const kinds = Object.keys(store) as Kind[]
    const kind = kinds.find((each) => path === style.path[each] || path.startsWith(`${style.path[each]}/`))
    if (kind === undefined) return style.refusal(404, `There is no ${path}`)
    const id = path.slice(style.path[kind].length + 1)
    if (id !== '') {
      const row = store[kind].find((each) => String(each[style.id[kind]]) === id)
      if (!row) return style.refusal(404, `There is no ${id}`)
      if (method !== 'GET') Object.assign(row, sent)
      return method !== 'GET' && kind === 'courses' && style.changed
        ? style.changed
        : json(200, style.record(row))
    }
    if (method === 'POST') {
      const idempotencyKey = headers['idempotency-key'] ?? ''
      const before = name === 'hal' ? answers.get(idempotencyKey) : undefined
      const row = { [style.id[kind]]: style.newId(kind, store[kind].length + 1), ...sent }
      if (!before) store[kind].push(row)
      if (name === 'hal') lagging.add(row)
      const reply = before ?? json(201, style.record(row))
      answers.set(idempotencyKey, reply)
      return reply
    }
    if (method !== 'GET') return style.refusal(405, 'Not allowed')
    const all = kind === 'activity' ? daysOf(request) : store[kind].filter((row) => !lagging.has(row))
    if (request.query.get('format') === 'csv') return csvOf(all)
    const { body: page, link } = style.page(kind, all, request)
    return json(200, page, link === undefined ? {} : { link })
  }

  /** Rows of the asked days, by the platform's own calendar. */
  function daysOf({ query }: Seen): readonly Row[] {
    const [from = '', to = '9'] = style.days.map((parameter) => query.get(parameter) ?? undefined)
    if (options.ignoresDays) return store.activity
    const dayOf = (value: unknown) =>
      typeof value === 'number' ? new Date(value * 1000).toISOString() : String(value)
    return store.activity.filter((row) => {
      const day = dayOf(row[time]).slice(0, 10)
      return day >= from.slice(0, 10) && day <= to.slice(0, 10)
    })
  }

  return {
    name,
    key,
    store,
    seen,
    options,
    style,
    /** Path of its platform file; null for none. */
    file: style.file && resolve('docs/platforms', style.file),
    url: `https://${style.host}`,
    /** Lets lists show what was created since; only HAL lags. */
    settle: () => lagging.clear(),
    /** Lines of the requests that were no GET. */
    writes: () => seen.filter(({ method }) => method !== 'GET').map(({ line }) => line),
    transport: async (request: HttpRequest) => {
      const { pathname, searchParams } = new URL(request.url)
      const path = decodeURIComponent(pathname)
      const one = { ...request, path, query: searchParams, line: `${request.method} ${path}` }
      seen.push(one)
      const usual = () => answer(one)
      return options.answer?.(one, usual) ?? usual()
    },
  }
}

function csvOf(rows: readonly Row[]): HttpResponse {
  const columns = Object.keys(rows[0] ?? { learner_id: '', last_accessed: '' })
  const lines = [columns, ...rows.map((row) => columns.map((column) => row[column] ?? ''))]
  const body = lines.map((line) => `${line.join(',')}\n`).join('')
  return { status: 200, headers: { 'content-type': 'text/csv' }, body }
}

function idOf(text: string): string | number {
  return /^\d+$/.test(text) ? Number(text) : text
}

/** Returns a part of a list and the offset of the next one; undefined after the last. */
function part(all: readonly Row[], offset: number, size: number) {
  return {
    rows: all.slice(offset, offset + size),
    next: offset + size < all.length ? offset + size : undefined,
  }
}

const levels = ['A', 'B', 'C'] as const
const people = ['owner', 'ann', 'ben'] as const
const mailOf = (n: number) => `${people[n - 1] ?? `user${n}`}@school.example`

const styles = {
  /** docs/platforms/page-numbers.yaml: three rows a page, whatever is asked for. */
  'page-numbers': {
    host: 'numbers.example',
    file: 'page-numbers.yaml',
    credential: ['x-api-key', ''],
    path: {
      courses: '/api/courses',
      lessons: '/api/units',
      users: '/api/people',
      activity: '/api/report',
      profile: '/api/me',
    },
    progress: /^\/api\/people\/([^/]+)\/progress$/,
    id: { courses: 'course_no', lessons: 'unit_no', users: 'person_no', activity: 'row_no' },
    activity: ['person_no', 'course_no', 'percent', 'last_seen'],
    days: ['from_day', 'to_day'],
    newId: (_, n) => n,
    percentage: (percentage) => percentage,
    time: (local) => local.replace('T', ' '),
    rows: {
      courses: (n) => ({ name: `Course ${n}`, external_id: `X-${n}`, state: n % 2 ? 'live' : 'hidden' }),
      users: (n) => ({ mail: mailOf(n), full_name: people[n - 1], kind: n === 1 ? 'staff' : 'pupil' }),
    },
    page: (_, all, { query }) => {
      const { rows } = part(all, (Number(query.get('page_no')) - 1) * 3, 3)
      const result = { rows, pages: Math.max(1, Math.ceil(all.length / 3)), count: all.length }
      return { body: { success: true, result } }
    },
    record: (row) => ({ success: true, result: row }),
    refusal: (status, message) =>
      json(200, { success: false, error_code: status * 100 + 1, error_text: message }),
  },
  odata: {
    host: 'odata.example',
    file: 'odata.yaml',
    credential: ['authorization', 'Bearer '],
    path: {
      courses: '/odata/Courses',
      lessons: '/odata/Lessons',
      users: '/odata/Users',
      activity: '/odata/Activity',
      profile: '/odata/Me',
    },
    progress: /^\/odata\/Learners\/([^/]+)\/Progress$/,
    id: { courses: 'CourseKey', lessons: 'LessonKey', users: 'UserKey', activity: 'RowKey' },
    activity: ['UserKey', 'CourseKey', 'Percent', 'SeenOn'],
    days: ['from', 'to'],
    newId: (kind, n) => `${kind[0]?.toUpperCase()}${n}`,
    percentage: (percentage) => percentage,
    time: (local) => `${local}+00:00`,
    rows: {
      courses: (n) => ({ Name: `Course ${n}`, IsoLevel: levels[n % 3], SourceKey: `X-${n}` }),
      users: (n) => ({ Contact: { Mail: mailOf(n), First: people[n - 1] }, SourceKey: `P-${n}` }),
    },
    page: (_, all, { url, query }) => {
      const { rows, next } = part(
        all,
        Number(query.get('$skiptoken') ?? 0),
        Math.min(3, Number(query.get('$top'))),
      )
      const link = new URL(url)
      link.searchParams.set('$skiptoken', String(next))
      return {
        body: {
          '@odata.count': all.length,
          value: rows,
          ...(next !== undefined && { '@odata.nextLink': link.href }),
        },
      }
    },
    record: (row) => row,
    refusal: (status, message) => json(status, { error: { code: `E${status}`, message } }),
    changed: { status: 204, headers: {}, body: null },
  },
  hal: {
    host: 'hal.example',
    file: 'hal.yaml',
    credential: ['authorization', 'Bearer '],
    path: {
      courses: '/hal/courses',
      lessons: '/hal/lessons',
      users: '/hal/users',
      activity: '/hal/activity',
      profile: '/hal/me',
    },
    progress: /^\/hal\/learners\/([^/]+)\/progress$/,
    id: { courses: 'course_key', lessons: 'lesson_key', users: 'user_key', activity: 'row_key' },
    activity: ['user_key', 'course_key', 'ratio', 'seen'],
    days: ['start_date', 'end_date'],
    newId: (kind, n) => `${kind.slice(0, 1)}-${n}`,
    percentage: (percentage) => percentage / 100,
    time: (local) => Date.parse(`${local}Z`) / 1000,
    rows: {
      courses: (n) => ({ display_name: `Course ${n}`, external_id: `X-${n}`, changed: 1_770_000_000 + n }),
      users: (n) => ({ login: mailOf(n), display_name: people[n - 1] }),
    },
    page: (kind, all, { path, query }) => {
      const { rows, next } = part(all, Number(query.get('after') ?? 0), 3)
      const _links = { self: { href: path }, ...(next && { next: { href: `${path}?after=${next}` } }) }
      return { body: { _embedded: { [kind]: rows }, _links } }
    },
    record: (row) => ({ ...row, _links: { self: { href: '/hal' } } }),
    refusal: (status, message) => json(status, { title: 'Refused', detail: message }),
  },
  /** Written from the published interface alone; needs no file. */
  natural: {
    host: 'natural.example',
    file: null,
    credential: ['authorization', 'Bearer '],
    path: {
      courses: '/v1/courses',
      lessons: '/v1/lessons',
      users: '/v1/users',
      activity: '/v1/analytics/learners',
      profile: '/v1/user/profile',
    },
    progress: /^\/v1\/learners\/([^/]+)\/progress$/,
    id: { courses: 'id', lessons: 'id', users: 'id', activity: 'row_id' },
    activity: ['learner_id', 'course_id', 'completion_percentage', 'last_accessed'],
    days: ['start_date', 'end_date'],
    newId: (_, n) => n,
    percentage: (percentage) => percentage,
    time: (local) => local,
    rows: {
      courses: (n) => ({ title: `Course ${n}`, external_id: `X-${n}`, status: 'published' }),
      users: (n) => ({ email: mailOf(n), external_id: `P-${n}`, role: n === 1 ? 'admin' : 'learner' }),
    },
    page: (kind, all, { url, query }) => {
      const { rows, next } = part(all, Number(query.get('offset') ?? 0), 3)
      const link = new URL(url)
      link.searchParams.set('offset', String(next))
      return {
        body: { [kind === 'activity' ? 'learners' : kind]: rows },
        ...(next !== undefined && { link: `<${link.href}>; rel="next"` }),
      }
    },
    record: (row) => row,
    refusal: (status, message) => json(status, { error: message }),
  },
} satisfies Record<string, Style>
