import sql from 'sql-template-tag'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { operations } from '../../src/contract/index.ts'
import type { Operation } from '../../src/contract/operation.ts'
import { type Answer, openTestAcademy, type Person, type TestAcademy } from '../helpers/academy.ts'
import { makeAcademyCopies } from '../helpers/academy-copies.ts'
import { bodies, exampleOf, fillIn, furnish, queries, type Things } from './examples.ts'

const guarded = operations.filter(({ scope }) => scope !== null)
const withBody = guarded.filter(({ body }) => body !== undefined)

type Sender = Pick<Person, 'send'>

// One academy for all examples that change nothing.
const school = await openTestAcademy()
afterAll(() => school.close())
const anybody = school.bearer(undefined)
const owner = await school.person('admin')
const existing = await furnish(school, owner)

const copies = await makeAcademyCopies((admin, academy) => furnish(academy, admin))
afterAll(copies.remove)

/** Opens a furnished academy for an example that changes it. */
async function openFurnished(): Promise<{ academy: TestAcademy; sender: Sender; things: Things }> {
  const { academy, admin, records } = await copies.open()
  onTestFinished(academy.close)
  return { academy, sender: admin, things: records }
}

/** Sends the example of an operation, or its path with another query or body. */
function send(
  sender: Sender,
  operation: Operation,
  things: Things,
  other: { query?: string; body?: unknown } = {},
): Promise<Answer> {
  const { method, target, body = '{}' } = exampleOf(operation, things)
  const url = other.query === undefined ? target : `${target.split('?')[0]}?${other.query}`
  if (!operation.body) return sender.send(method, url)
  const sent = Object.hasOwn(other, 'body') ? JSON.stringify(other.body) : body
  return sender.send(method, url, sent, { 'content-type': 'application/json' })
}

test('every example is of an operation that takes it', () => {
  const idsOf = (of: readonly Operation[]) => of.map(({ id }) => id)
  expect(idsOf(operations.filter(({ query }) => query))).toEqual(expect.arrayContaining(Object.keys(queries)))
  expect(idsOf(operations.filter(({ body }) => body))).toEqual(expect.arrayContaining(Object.keys(bodies)))
})

test.for(operations)('$method $path answers its example as its schema says', async (operation) => {
  const { sender, things } =
    operation.method === 'GET' ? { sender: owner, things: existing } : await openFurnished()
  const answer = await send(sender, operation, things)
  expect(answer).toMatchObject({ status: operation.status })
  expect(answer.headers.get('x-request-id')).toMatch(/^req_/)
  if (operation.response === null) return expect(answer.text).toBe('')
  // Parsing drops unknown fields, so nothing may be missing afterwards.
  expect(operation.response.parse(answer.body)).toEqual(answer.body)
})

/** Operations whose examples change no record, or one that has a history of its own. */
const unaudited: Readonly<Record<string, string>> = {
  'progress.set': 'progress has its own history',
  'lessons.restore': 'the version to restore equals the lesson',
  'enrollments.batch': 'the enrolment exists, and is skipped',
  'groups.addMember': 'the user is a member already',
  'analytics.backfill': 'queues messages',
  'endpoints.test': 'queues a message',
  'deliveries.replay': 'the delivery is still unmatched',
  'deliveries.replayAll': 'the delivery is still unmatched',
  'integrations.test': 'asks the other system',
  'changes.create': 'a change is named by the entries of its writes',
  'changes.end': 'a change is named by the entries of its writes',
  'plans.create': 'a plan changes nothing until it is carried out',
  'plans.addSteps': 'a plan changes nothing until it is carried out',
  'plans.carryOut': 'a trial is taken back',
  'plans.delete': 'a plan changes nothing until it is carried out',
  'leases.take': 'a lease ends by itself',
  'leases.release': 'a lease ends by itself',
}

/** Deletions that no example has: of what is in the trash, and for good. */
const deletions = [
  'DELETE /v1/courses/{deletedCourseId}?erase=true',
  'DELETE /v1/lessons/{deletedLessonId}?erase=true',
  'DELETE /v1/courses/{courseId}?force=true&erase=true',
  'DELETE /v1/lessons/{lessonId}?erase=true',
  'DELETE /v1/users/{userId}',
]

describe('leaves one audit entry for each record that it changes:', () => {
  /** Returns what an action does, and the entries that it leaves, as action and subject. */
  async function audited(academy: TestAcademy, act: () => Promise<Answer>) {
    const all = () =>
      academy.database.all<{ id: string; action: string; subject_id: string | null }>(
        sql`select id, action, subject_id from audit_entries`,
      )
    const before = new Set((await all()).map(({ id }) => id))
    const { status } = await act()
    const entries = (await all()).filter(({ id }) => !before.has(id))
    return { status, entries: entries.map(({ action, subject_id }) => `${action} ${subject_id}`) }
  }

  test.for(operations.filter(({ method }) => method !== 'GET'))('$method $path', async (operation) => {
    const { academy, sender, things } = await openFurnished()
    const { status, entries } = await audited(academy, () => send(sender, operation, things))
    expect(status).toBe(operation.status)
    expect(entries).toEqual([...new Set(entries)])
    expect(entries.length > 0, entries.join()).toBe(!(operation.id in unaudited))
  })

  test.for(deletions)('%s', async (request) => {
    const { academy, sender, things } = await openFurnished()
    const [method = '', path = ''] = request.split(' ')
    const { status, entries } = await audited(academy, () => sender.send(method, fillIn(path, things)))
    const [, name = ''] = /\{(\w+)\}/.exec(path) ?? []
    expect(status).toBe(204)
    expect(entries.filter((entry) => entry.endsWith(` ${things[name]}`))).toHaveLength(1)
  })
})

test.for(guarded)('$method $path without a credential is 401', async (operation) => {
  const answer = await send(anybody, operation, existing)
  expect(answer).toMatchObject({ status: 401, body: { code: 'missing_credentials' } })
  expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm="learnctl", resource_metadata="/)
})

test.for(guarded)('$method $path with an unknown parameter is 400', async (operation) => {
  const answer = await send(owner, operation, existing, { query: 'colour=red' })
  expect(answer).toMatchObject({
    status: 400,
    body: {
      code: 'unknown_parameter',
      errors: expect.arrayContaining([
        { parameter: 'colour', code: 'unknown_parameter', detail: 'is not a known parameter' },
      ]),
    },
  })
})

test.for(withBody)('$method $path with a bad body is 422 with pointers', async (operation) => {
  const unknown = await send(owner, operation, existing, { body: { colour: 'red' } })
  expect(unknown).toMatchObject({
    status: 422,
    body: {
      code: 'validation_failed',
      errors: expect.arrayContaining([
        { pointer: '#/colour', code: 'unknown_field', detail: 'is not a known field' },
      ]),
    },
  })
  const noObject = await send(owner, operation, existing, { body: [] })
  expect(noObject).toMatchObject({
    status: 422,
    body: { errors: [{ pointer: '#', code: 'invalid_type', detail: 'must be an object' }] },
  })
})

test.for(withBody)('$method $path takes JSON only', async ({ method, path }) => {
  const url = fillIn(path, existing)
  const typed = (type: string, body: string) => owner.send(method, url, body, { 'content-type': type })
  expect(await typed('text/plain', '{}')).toMatchObject({
    status: 415,
    body: { code: 'unsupported_media_type' },
  })
  expect(await typed('application/json', '{"title":')).toMatchObject({
    status: 400,
    body: { code: 'invalid_json' },
  })
})
