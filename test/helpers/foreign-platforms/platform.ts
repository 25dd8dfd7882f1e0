import type { HttpHeaders, HttpRequest, HttpResponse, Transport } from '../../../src/contract/http.ts'
import { initialStore, type Noun, type Store, type Thing } from './store.ts'

/** A request as the platform received it. */
export interface ForeignRequest {
  readonly method: string
  /** Absolute URL with the query. */
  readonly url: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: HttpHeaders
  /** Text of the body; empty without one. */
  readonly text: string
  /** `GET /v1/courses?page=2`. */
  readonly line: string
}

/** Format of a platform's responses. Records have the store's names: camelCase, with `id`. */
export interface Style {
  /** Id of the nth record of a kind, from 1. */
  readonly id: (noun: Noun, n: number) => string | number
  readonly list: (noun: Noun, things: readonly Thing[], request: ForeignRequest) => HttpResponse
  readonly created: (noun: Noun, thing: Thing) => HttpResponse
  readonly changed: (noun: Noun, thing: Thing, changes: Thing) => HttpResponse
  readonly profile: (user: Thing) => HttpResponse
  readonly csv: (rows: readonly Thing[]) => HttpResponse
  readonly refused: (status: number, message: string, field?: string) => HttpResponse
  /** Changes a response on its way to the client: an encoding, a redirect, a page. */
  readonly sent?: (response: HttpResponse, request: ForeignRequest) => HttpResponse
}

/** Options of every platform. */
export interface PlatformOptions {
  /** Number of courses at the beginning (default 3). */
  readonly courses?: number
  /** Applies query parameters that name a field, such as `course_id` (default false: ignores them). */
  readonly filters?: boolean
}

/** Responds instead of the platform; undefined passes the request on. */
type Intercept = (request: ForeignRequest, usual: () => HttpResponse) => HttpResponse | undefined

/** A platform with exactly the eight published operations, in memory. */
export interface ForeignPlatform {
  readonly url: string
  readonly key: string
  readonly transport: Transport
  readonly requests: readonly ForeignRequest[]
  /** Its records, with the store's names. */
  readonly store: Store
  /** Asks this first from now on. */
  intercept(by: Intercept): void
}

/** Makes a platform with the published operations that responds in a style. */
export function foreignPlatform(host: string, style: Style, options: PlatformOptions = {}): ForeignPlatform {
  const url = `https://${host}`
  const key = 'key-of-the-tests'
  const requests: ForeignRequest[] = []
  const store = initialStore(style.id, options.courses ?? 3)
  let intercept: Intercept = () => undefined

  function answer(request: ForeignRequest): HttpResponse {
    if (request.headers['authorization'] !== `Bearer ${key}`) return style.refused(401, 'Invalid token')
    const sent = request.text === '' ? {} : objectOf(request.text)
    if (sent === null) return style.refused(400, 'The body is not a JSON object')
    const { method, path, query } = request
    const course = /^\/v1\/courses\/([^/]+)$/.exec(path)?.[1]
    const learner = /^\/v1\/learners\/([^/]+)\/progress$/.exec(path)?.[1]
    if (method === 'PUT' && course) return updateCourse(decodeURIComponent(course), sent)
    if (method === 'PUT' && learner) return setProgress(decodeURIComponent(learner), sent)
    switch (`${method} ${path}`) {
      case 'GET /v1/courses':
        return style.list('course', filtered(store.course, query), request)
      case 'POST /v1/courses':
        return add('course', sent, 'title')
      case 'POST /v1/lessons':
        if (find('course', sent['courseId']) === undefined) return style.refused(404, 'Course not found')
        return add('lesson', sent, 'title')
      case 'POST /v1/users':
        return add('user', sent, 'email')
      case 'GET /v1/user/profile':
        return style.profile(store.user[0] ?? {})
      case 'GET /v1/analytics/learners':
        return analytics(request)
      default:
        return style.refused(404, `Cannot ${method} ${path}`)
    }
  }

  function find(noun: Noun, id: unknown): Thing | undefined {
    return store[noun].find((thing) => String(thing['id']) === String(id))
  }

  function add(noun: Noun, sent: Thing, required: string): HttpResponse {
    if (typeof sent[required] !== 'string') return style.refused(422, `${required} is required`, required)
    const thing = { id: style.id(noun, store[noun].length + 1), ...sent, version: 1, createdAt: addedAt }
    store[noun].push(thing)
    return style.created(noun, thing)
  }

  function updateCourse(id: string, changes: Thing): HttpResponse {
    const course = find('course', id)
    if (course === undefined) return style.refused(404, 'Course not found')
    Object.assign(course, changes, { version: Number(course['version']) + 1 })
    return style.changed('course', course, changes)
  }

  function setProgress(learnerId: string, sent: Thing): HttpResponse {
    const user = find('user', learnerId)
    const course = find('course', sent['courseId'])
    if (user === undefined || course === undefined) return style.refused(404, 'Not found')
    const { progress } = store
    const at = progress.findIndex(
      (row) => row['learnerId'] === user['id'] && row['courseId'] === course['id'],
    )
    const row = { learnerId: user['id'], ...sent, courseId: course['id'] }
    progress.splice(at < 0 ? progress.length : at, 1, row)
    return style.changed('progress', row, sent)
  }

  function analytics(request: ForeignRequest): HttpResponse {
    const from = request.query.get('start_date') ?? ''
    const to = request.query.get('end_date') ?? '9999'
    const rows = store.progress
      .filter(({ lastAccessed }) => String(lastAccessed) >= from && String(lastAccessed).slice(0, 10) <= to)
      .map((row) => ({
        ...row,
        email: find('user', row['learnerId'])?.['email'],
        courseTitle: find('course', row['courseId'])?.['title'],
      }))
    const wanted = filtered(rows, request.query)
    return request.query.get('format') === 'csv' ? style.csv(wanted) : style.list('row', wanted, request)
  }

  function filtered(things: readonly Thing[], query: URLSearchParams): readonly Thing[] {
    if (!options.filters) return things
    const asked = [...query].map(([name, value]) => [camelCase(name), value] as const)
    return things.filter((thing) =>
      asked.every(([field, value]) => !(field in thing) || String(thing[field]) === value),
    )
  }

  return {
    url,
    key,
    requests,
    store,
    intercept: (by) => {
      intercept = by
    },
    transport: async (request) => {
      const seen = await requestOf(request)
      requests.push(seen)
      const usual = () => answer(seen)
      const reply = intercept(seen, usual) ?? usual()
      return style.sent?.(reply, seen) ?? reply
    },
  }
}

const addedAt = '2026-03-01T12:00:00Z'

/** Returns a JSON response. */
export function json(status: number, body: unknown, headers: HttpHeaders = {}): HttpResponse {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }
}

/** Returns a CSV response with a header. */
export function csv(columns: readonly string[], rows: readonly Thing[]): HttpResponse {
  const lines = [columns, ...rows.map((row) => columns.map((column) => row[column] ?? ''))]
  const body = lines.map((line) => `${line.join(',')}\n`).join('')
  return { status: 200, headers: { 'content-type': 'text/csv' }, body }
}

/** Converts the names of all fields to snake_case, also in nested objects. */
export function snakeCase(thing: Thing): Thing {
  const name = (field: string) => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return Object.fromEntries(
    Object.entries(thing).map(([field, value]) => [name(field), isThing(value) ? snakeCase(value) : value]),
  )
}

function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}

async function requestOf({ method, url, headers, body = '' }: HttpRequest): Promise<ForeignRequest> {
  if (typeof body !== 'string') throw new TypeError('the program sends text')
  const { pathname, search, searchParams } = new URL(url)
  return {
    method,
    url,
    path: pathname,
    query: searchParams,
    headers,
    text: body,
    line: `${method} ${pathname}${search}`,
  }
}

function objectOf(text: string): Thing | null {
  try {
    const value: unknown = JSON.parse(text)
    return isThing(value) ? value : null
  } catch {
    return null
  }
}

/** True for a JSON object. */
export function isThing(value: unknown): value is Thing {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
