import { type FakeRequest, type FakeResponse, json, serveFake } from './fake-system.ts'

type Row = Record<string, unknown>
type Answer = readonly [status: number, body: unknown]

/** A platform with exactly the eight published operations that responds in the plainest allowed form. */
export type SeedServer = Awaited<ReturnType<typeof startSeedServer>>

const page =
  '<!DOCTYPE html>\n<html><head><title>Not Found</title></head><body><h1>Not Found</h1></body></html>\n'

/** Starts the platform on a free loopback port; it holds only the owner of its key. */
export async function startSeedServer() {
  const key = 'sk-live-4f1e7a'
  const expiredKey = 'sk-live-0ld'
  /** Requests so far; the URL is a path with a query. */
  const requests: { readonly method: string; readonly url: string; readonly body: string }[] = []
  const owner: Row = { id: '1', email: 'owner@school.example', role: 'administrator' }
  const state: State = { courses: [], lessons: [], users: [owner], progress: new Map() }

  const { url, close } = await serveFake((request) => {
    const { method, headers, body } = request
    requests.push({ method, url: request.url.pathname + request.url.search, body })
    const credential = headers['authorization']
    if (credential === `Bearer ${expiredKey}`) return sent([403, { message: 'Expired key' }])
    if (credential !== `Bearer ${key}`) return sent([401, { message: 'Invalid token' }])
    return sent(answerOf(state, request))
  })
  return { url, key, expiredKey, requests, close }
}

type State = {
  readonly courses: Row[]
  readonly lessons: Row[]
  readonly users: Row[]
  readonly progress: Map<string, Row>
}

function answerOf(state: State, { method, url: { pathname, searchParams }, body }: FakeRequest): Answer {
  const sent = body === '' ? {} : rowOf(body)
  if (sent === null) return [400, { message: 'Request body is not valid JSON' }]
  const course = /^\/v1\/courses\/([^/]+)$/.exec(pathname)?.[1]
  const learner = /^\/v1\/learners\/([^/]+)\/progress$/.exec(pathname)?.[1]

  if (method === 'PUT' && course) return updateCourse(state, decodeURIComponent(course), sent)
  if (method === 'PUT' && learner) return setProgress(state, decodeURIComponent(learner), sent)
  switch (`${method} ${pathname}`) {
    case 'GET /v1/courses':
      return [200, state.courses]
    case 'POST /v1/courses':
      return add(state.courses, sent, 'title')
    case 'POST /v1/lessons':
      return state.courses.some(({ id }) => id === sent['courseId'])
        ? add(state.lessons, sent, 'title')
        : [404, { message: 'Course not found' }]
    case 'POST /v1/users':
      return add(state.users, sent, 'email')
    case 'GET /v1/user/profile':
      return [200, state.users[0]]
    case 'GET /v1/analytics/learners':
      return analytics(state, searchParams)
    default:
      return [404, page]
  }
}

function add(rows: Row[], sent: Row, required: string): Answer {
  if (typeof sent[required] !== 'string') return [400, { message: `${required} is required` }]
  const row = { id: String(rows.length + 1), ...sent }
  rows.push(row)
  return [200, row]
}

function updateCourse(state: State, id: string, sent: Row): Answer {
  const course = state.courses.find((row) => row['id'] === id)
  if (course === undefined) return [404, { message: 'Course not found' }]
  Object.assign(course, sent)
  return [200, { message: 'Course updated', modified: sent, version: '2' }]
}

function setProgress(state: State, learnerId: string, sent: Row): Answer {
  const known =
    state.users.some(({ id }) => id === learnerId) && state.courses.some(({ id }) => id === sent['courseId'])
  if (!known) return [404, { message: 'Not found' }]
  const row = { learnerId, ...sent }
  state.progress.set(`${learnerId} ${sent['courseId']}`, row)
  return [200, row]
}

function analytics(state: State, query: URLSearchParams): Answer {
  const from = query.get('start_date') ?? ''
  const to = query.get('end_date') ?? '9999'
  const rows = [...state.progress.values()].filter(({ lastAccessed }) => {
    const day = String(lastAccessed ?? '').slice(0, 10)
    return day >= from && day <= to
  })
  if (query.get('format') !== 'csv') return [200, rows]
  const columns = ['learnerId', 'courseId', 'completionPercentage', 'lastAccessed']
  const lines = rows.map((row) => columns.map((column) => row[column] ?? '').join(','))
  return [200, [columns.join(','), ...lines, ''].join('\n')]
}

function rowOf(text: string): Row | null {
  try {
    const value: unknown = JSON.parse(text)
    // Only JSON objects are accepted.
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Row) : null
  } catch {
    return null
  }
}

function sent([status, body]: Answer): FakeResponse {
  if (typeof body !== 'string') return json(body, status)
  return { status, headers: { 'content-type': status === 200 ? 'text/csv' : 'text/html' }, body }
}
