import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ErrorCode, type Problem, statusOf } from '../../src/contract/errors.ts'
import { operations } from '../../src/contract/index.ts'
import type { OperationExample } from '../../src/contract/openapi/examples.ts'
import type { Method, Operation } from '../../src/contract/operation.ts'
import { ProblemError, problemOf } from '../../src/server/problem-error.ts'
import { root } from '../helpers/process.ts'
import {
  type Answer,
  day,
  minute,
  openTestAcademy,
  type Person,
  type TestAcademy,
} from '../helpers/test-academy.ts'
import { exampleOf, furnish, type Things } from './examples.ts'

/** Content of src/contract/openapi/examples.json. */
export interface DocumentExamples {
  readonly operations: Readonly<Record<string, OperationExample>>
  readonly problems: Readonly<Record<string, unknown>>
}

/** Path of the examples, from the root. */
export const documentExamplesFile = 'src/contract/openapi/examples.json'

/** Names in the examples. */
const named = {
  courseId: 'ext:AAA-2013J',
  lessonId: 'ext:AAA-2013J-1752',
  termId: 'ext:2013B',
  groupId: 'ext:AAA-2013J-1',
  deletedCourseId: 'ext:AAA-2012B',
  userId: 'ext:11391',
  learnerId: 'ext:11391',
}

// Records are read before they are changed and deleted last; a record comes before those that depend on it.
const sequence: readonly Method[] = ['GET', 'POST', 'PUT', 'DELETE']

/**
 * Returns the text of that file: calls every operation and provokes every error code, in an academy with example data.
 */
export async function documentExamplesText(): Promise<string> {
  const academy = await openTestAcademy()
  try {
    const admin = await academy.person('admin')
    const things = { ...(await furnish(academy, admin)), ...named }
    const all: Record<string, OperationExample> = {}
    for (const method of sequence) {
      for (const operation of operations.filter((one) => one.method === method).reverse()) {
        academy.clock.advance(minute)
        all[operation.id] = await answeredExample(admin, operation, things)
      }
    }
    const made = {
      operations: Object.fromEntries(operations.map(({ id }) => [id, all[id]])),
      problems: await problemsOf(academy, admin),
    }
    return `${withStableIds(made)}\n`
  } finally {
    await academy.close()
  }
}

async function answeredExample(
  admin: Person,
  operation: Operation,
  things: Things,
): Promise<OperationExample> {
  const { id, method, path, response, media = [] } = operation
  const { target, body } = exampleOf(operation, things)
  const sent = body === undefined ? undefined : JSON.parse(body)
  const answer = await send(admin, method, target, sent)
  if (answer.status !== operation.status) throw new Error(`${method} ${target}: ${answer.text}`)
  const streamed: Record<string, string> = {}
  for (const type of media)
    streamed[type] = (await admin.get(target.replace('&include_total=true', ''), { accept: type })).text
  return {
    parameters: parametersIn(path, target),
    ...(sent === undefined ? {} : { body: sent }),
    // The OpenAPI document cannot be its own example.
    ...(response === null || id === 'service.openapi' ? {} : { response: answer.body }),
    ...(media.length > 0 ? { media: streamed } : {}),
  }
}

function parametersIn(template: string, target: string): Record<string, string> {
  const [path = '', query] = target.split('?')
  const names = template.split('/')
  const inPath = path.split('/').flatMap((value, index) => {
    const [, name] = /^\{(\w+)\}$/.exec(names[index] ?? '') ?? []
    return name === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries([...inPath, ...new URLSearchParams(query)])
}

function send(person: Pick<Person, 'send'>, method: string, path: string, body?: unknown): Promise<Answer> {
  const type = { 'content-type': 'application/json' }
  return body === undefined
    ? person.send(method, path)
    : person.send(method, path, JSON.stringify(body), type)
}

/** Returns a refusal with each code, in the order of the table. */
async function problemsOf(academy: TestAcademy, admin: Person): Promise<Record<string, Problem>> {
  const found = new Map<string, Problem>()
  const keep = ({ body, text }: Answer) => {
    if (body?.code === undefined) throw new Error(`This was to be refused: ${text}`)
    // Some refusals only lead to the next one: the first of each code is kept.
    if (!found.has(body.code)) found.set(body.code, body)
  }
  const course = '/v1/courses/ext:AAA-2012J'
  const learner = '/v1/learners/ext:65002/progress'
  const progress = {
    courseId: 'ext:AAA-2012J',
    completionPercentage: 20,
    lastAccessed: '2014-01-01T00:00:00Z',
  }
  const title = 'Module AAA, presentation 2012J'
  await admin.post('/v1/courses', { externalId: 'AAA-2012J', title, status: 'published' })

  keep(await admin.send('POST', '/v1/courses', '{"title":', { 'content-type': 'application/json' }))
  keep(await admin.get('/v1/courses?limit=1000'))
  keep(await admin.get('/v1/courses?dificulty=advanced'))
  keep(await admin.get('/v1/courses?cursor=2'))
  keep(await academy.bearer(undefined).get('/v1/courses'))
  keep(await academy.bearer('Bearer revoked').get('/v1/courses'))
  keep(await (await academy.person('admin', ['read'])).post('/v1/courses', { title }))
  keep(await (await academy.person('learner')).post('/v1/courses', { title }))
  keep(await admin.get('/v1/courses/ext:AAA-2011J'))
  keep(await admin.delete('/v1/courses'))
  keep(await admin.post('/v1/courses', { externalId: 'AAA-2012J', title }))
  keep(await admin.post('/v1/courses', { title: '', difficulty: 'hard', level: 3 }))
  keep(await admin.put(course, { version: 7 }))
  keep(await admin.put(course, { tags: ['new'] }, { 'if-match': '"7"' }))
  keep(await admin.send('POST', '/v1/courses', 'title=X', { 'content-type': 'text/plain' }))
  keep(
    await admin.send('POST', '/v1/courses', 'x'.repeat(2 ** 20 + 1), { 'content-type': 'application/json' }),
  )
  keep(await admin.get(`/v1/courses?q=${'x'.repeat(8192)}`))
  const lesson = { courseId: 'ext:AAA-2012J', title: 'First assignment' }
  await admin.post('/v1/lessons', lesson)
  keep(await admin.delete(course))
  await admin.put(learner, progress)
  keep(await admin.delete(course))
  keep(await admin.put(learner, { ...progress, lastAccessed: '2013-12-01T00:00:00Z' }))
  const grade = {
    learnerId: 'ext:65002',
    courseId: 'ext:AAA-2012J',
    scoreGiven: 60,
    gradedAt: '2014-01-01T00:00:00Z',
  }
  await admin.put('/v1/grades', grade)
  keep(await admin.put('/v1/grades', { ...grade, gradedAt: '2013-12-01T00:00:00Z' }))
  const enrolled = await admin.get('/v1/enrollments?user_id=ext:65002&course_id=ext:AAA-2012J')
  const enrollment = `/v1/enrollments/${enrolled.body.data[0].id}`
  await admin.put(enrollment, { status: 'inactive' })
  keep(await admin.put(learner, progress))
  await admin.put('/v1/users/ext:65002', { status: 'suspended' })
  keep(await admin.put(learner, progress))
  await admin.post('/v1/courses', {
    externalId: 'untracked',
    title: 'Untracked',
    progressTracking: { enabled: false },
  })
  await admin.put('/v1/courses/ext:untracked', { status: 'published' })
  keep(await admin.put('/v1/learners/ext:28400/progress', { ...progress, courseId: 'ext:untracked' }))
  await admin.put(course, { status: 'archived' })
  keep(await admin.put(course, { status: 'draft' }))
  keep(await ofTermWithCourses(admin))
  keep(await ofDeletedCourse(admin))
  keep(await ofDisabledEndpoint(admin))
  keep(await admin.post('/v1/lessons', lesson))
  keep(await ofOtherLease(admin))
  keep(await ofOtherAcademy(admin))
  const { body: change } = await admin.post('/v1/changes', { command: 'courses import' })
  await admin.put('/v1/courses/ext:untracked', { tags: ['new'] }, { 'change-id': change.id })
  keep(await admin.post(`/v1/undo/${change.id}`, { digest: 'earlier' }))
  keep(await ofOtherSystem(admin))
  keep(await lastAdmin(academy, admin))
  const key = { 'idempotency-key': '"once"' }
  await admin.post('/v1/courses', { title: 'Once' }, key)
  keep(await admin.post('/v1/courses', { title: 'Twice' }, key))
  const { body } = await admin.post('/v1/keys', {
    name: 'short',
    expiresAt: new Date(academy.clock.now().getTime() + day),
  })
  academy.clock.advance(2 * day)
  keep(await academy.bearer(`Bearer ${body.key}`).get('/v1/courses'))
  academy.clock.advance(30 * day)
  keep(await admin.get(`/v1/undo/${change.id}`))

  return Object.fromEntries(
    (Object.keys(statusOf) as ErrorCode[]).map((code) => [code, found.get(code) ?? untried(code)]),
  )
}

/** Provokes has_courses: deletes a term that a course belongs to. */
async function ofTermWithCourses(admin: Person): Promise<Answer> {
  const { body: term } = await admin.post('/v1/terms', { name: 'February 2012' })
  await admin.post('/v1/courses', { title: 'Module AAA, presentation 2012B', termId: term.id })
  return admin.delete(`/v1/terms/${term.id}`)
}

/** Provokes course_deleted: restores a lesson of a deleted course. */
async function ofDeletedCourse(admin: Person): Promise<Answer> {
  const { body: course } = await admin.post('/v1/courses', { title: 'Module BBB' })
  const { body: lesson } = await admin.post('/v1/lessons', { courseId: course.id, title: 'First assignment' })
  await admin.delete(`/v1/lessons/${lesson.id}`)
  await admin.delete(`/v1/courses/${course.id}`)
  return admin.post(`/v1/deleted-lessons/${lesson.id}/restore`)
}

/** Provokes endpoint_disabled: tests a disabled endpoint. */
async function ofDisabledEndpoint(admin: Person): Promise<Answer> {
  const path = '/v1/webhooks/endpoints'
  const { body } = await admin.post(path, { url: 'https://lms.example.org/hooks', status: 'disabled' })
  return admin.post(`${path}/${body.id}/test`)
}

/** Provokes other_system_refused: Moodle does not know the token. */
async function ofOtherSystem(admin: Person): Promise<Answer> {
  const settings = { baseUrl: 'https://moodle.example.org', accessToken: 'another-token' }
  await admin.put('/v1/integrations/moodle', settings)
  return admin.get('/v1/integrations/moodle/records?part=courses')
}

/** Provokes apply_in_progress: another apply holds the lease. */
async function ofOtherLease(admin: Person): Promise<Answer> {
  const holder = 'build-7, process 4711'
  await admin.put('/v1/apply-lease', { id: 'apply-4711-on-build-7', holder })
  return admin.put('/v1/apply-lease', { id: 'apply-4712-on-build-7', holder: 'build-7, process 4712' })
}

/** Provokes changes_gone: the place is one of another academy. */
function ofOtherAcademy(admin: Person): Promise<Answer> {
  const place = Buffer.from(JSON.stringify(['changes', 1, 1])).toString('base64url')
  return admin.get(`/v1/analytics/changes?after=${place}`)
}

/** Provokes last_admin: deletes the only admin of another academy. */
async function lastAdmin(academy: TestAcademy, admin: Person): Promise<Answer> {
  const { data } = (await admin.get('/v1/users?role=admin&status=active')).body
  for (const { id } of data) if (id !== admin.id) await admin.delete(`/v1/users/${id}`)
  academy.clock.advance(minute)
  return admin.delete(`/v1/users/${admin.id}`)
}

/** Refusals that need a socket, another program or a fault of the server, as the server phrases them. */
const details: Readonly<Partial<Record<ErrorCode, string>>> = {
  duplicate_header: 'Header Authorization must be sent only once.',
  token_expired: 'The access token expired at 2026-03-01T11:00:00.000Z.',
  headers_too_large: 'The request has more than 1,000 headers, or they are larger than 16 KiB.',
  request_timeout: 'The request took too long to arrive.',
  limit_reached: 'An academy can have at most 50 webhook endpoints.',
  misdirected_request:
    'Host "school.example.org" is not allowed; start the server with --allow-host to add it.',
  malformed_payload: 'metadata.event_name is required.',
  invalid_signature: 'webhook-signature is required.',
  timestamp_out_of_range: 'webhook-timestamp must be within 5 minutes of now.',
  rate_limited: 'Too many requests; try again in 12 s.',
  internal: 'Internal error; see the server log for this request id.',
  unavailable: 'The server is shutting down.',
  encryption_unavailable: 'Encryption key file academy.db.key is missing: restore it from where it was kept.',
}

function untried(code: ErrorCode): Problem {
  const error = new ProblemError(code, details[code] ?? 'The request was refused.')
  return problemOf(error, '/v1/courses', `req_${code}`)
}

/** Replaces random ids and credentials by numbered ones. */
function withStableIds(made: unknown): string {
  const known = new Map<string, string>()
  const stable = (id: string, prefix = 'req', time = '0mm7yg0g0') => {
    const hash = createHash('sha256').update(`${prefix}${known.size}`).digest('hex')
    const other = known.get(id) ?? `${prefix}_${time}${hash.slice(0, 20)}`
    known.set(id, other)
    return other
  }
  // UUIDs of statements, which are made of ids.
  const uuids = new Map<string, string>()
  const stableUuid = (uuid: string) => {
    const other = uuids.get(uuid) ?? `00000000-0000-5000-8000-${String(uuids.size).padStart(12, '0')}`
    uuids.set(uuid, other)
    return other
  }
  const text = (name: string, value: unknown): unknown => {
    if (typeof value !== 'string') return value
    if (name === 'last4') return 'hown'
    if (name === 'clientSecret' || name === 'secret') return 'shown_only_once'
    // The place in a feed has a random number.
    if (name === 'until') return Buffer.from(JSON.stringify(['changes', 20, 1])).toString('base64url')
    if (/Salt$/.test(name)) return 'abcdef0123456789abcdef01'
    if (/^hash$|[dD]igest$/.test(name)) return createHash('sha256').update(name).digest('hex')
    return value
      .replaceAll(/\b([a-z]{3})_(0[0-9a-z]{8})[0-9a-f]{20}\b|\breq_[a-z_]+\b/g, stable)
      .replaceAll(/\b[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\b/g, stableUuid)
      .replaceAll(/\b(lp[a-z])_[A-Za-z0-9]{36}\b/g, '$1_shown')
      .replaceAll(/(?<=\/calendars\/)[\w-]{43}(?=\.ics)/g, 'shown_only_once')
  }
  return JSON.stringify(made, text, 2)
}

// Runs before the manual is made, which shows these examples as the document does.
if (import.meta.main) writeFileSync(join(root, documentExamplesFile), await documentExamplesText())
