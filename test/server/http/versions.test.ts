import { expect } from 'vitest'
import { hour, type Person, test } from '../../helpers/academy.ts'

async function courseOf(person: Person) {
  const { body } = await person.post('/v1/courses', { title: 'Logic' })
  return { id: body.id, path: `/v1/courses/${body.id}` }
}

test('a stale If-Match is 412, with the version that is stored', async ({ admin }) => {
  const { path } = await courseOf(admin)
  await admin.put(path, { title: 'Rhetoric' })
  for (const stale of ['"1"', '"3"', 'W/"2"', '"1", "7"', '"1,2"']) {
    const answer = await admin.put(path, { title: 'Grammar' }, { 'if-match': stale })
    expect(answer).toMatchObject({ status: 412, body: { code: 'precondition_failed', version: 2 } })
    expect(answer.headers.get('etag')).toBe('"2"')
  }
  expect((await admin.delete(path, { 'if-match': '"1"' })).status).toBe(412)
  expect((await admin.get(path)).body.title).toBe('Rhetoric')
})

test('an If-Match that is no list of entity tags is 400, and the response says how to write one', async ({
  admin,
}) => {
  const { path } = await courseOf(admin)
  for (const malformed of ['1', 'w/"1"', '"1', '"1", *', '"1", 2', ',', 'version-1']) {
    const answer = await admin.put(path, { title: 'Grammar' }, { 'if-match': malformed })
    expect(answer, malformed).toMatchObject({
      status: 400,
      body: {
        detail: 'The header If-Match must be entity tags in double quotes, such as "3", or *.',
        errors: [{ parameter: 'If-Match', code: 'invalid_parameter' }],
      },
    })
  }
  expect((await admin.get(path, { 'if-none-match': '1' })).status).toBe(400)
  expect((await admin.get(path)).body.title).toBe('Logic')
})

test('If-Match with a version is 412 for a record without versions, and changes nothing', async ({
  admin,
}) => {
  const { body: key } = await admin.post('/v1/keys', { name: 'export' })
  const answer = await admin.delete(`/v1/keys/${key.id}`, { 'if-match': '"1"' })
  expect(answer).toMatchObject({ status: 412, body: { code: 'precondition_failed' } })
  expect((await admin.get('/v1/keys')).text).toContain(key.id)
  expect((await admin.post('/v1/courses', { title: 'A' }, { 'if-match': '"1"' })).status).toBe(412)
  expect((await admin.get('/v1/courses')).body.data).toEqual([])
  expect((await admin.delete(`/v1/keys/${key.id}`, { 'if-match': '*' })).status).toBe(204)
})

test('If-None-Match guards a write, and * one that may only make', async ({ admin, learner }) => {
  const { id: courseId, path } = await courseOf(admin)
  expect((await admin.put(path, { title: 'Rhetoric' }, { 'if-none-match': '"1"' })).status).toBe(412)
  expect((await admin.put(path, { title: 'Rhetoric' }, { 'if-none-match': '"7"' })).status).toBe(200)
  await admin.post('/v1/enrollments', { courseId, userId: learner.id })
  const set = (headers: Record<string, string>) =>
    admin.put(`/v1/learners/${learner.id}/progress`, { courseId, completionPercentage: 10 }, headers)
  expect((await set({ 'if-match': '*' })).status).toBe(412)
  expect((await set({ 'if-none-match': '*' })).status).toBe(200)
  expect((await set({ 'if-none-match': '*' })).status).toBe(412)
  expect((await set({ 'if-match': '*' })).status).toBe(200)
})

test('a read with If-Match is 412 when there is another version', async ({ admin }) => {
  const { path } = await courseOf(admin)
  expect((await admin.get(path, { 'if-match': '"1"' })).status).toBe(200)
  expect((await admin.get(path, { 'if-match': '"2"' })).status).toBe(412)
  expect((await admin.get('/v1/courses', { 'if-match': '"2"' })).status).toBe(412)
  const file = '/v1/analytics/learners?format=csv'
  expect((await admin.get(file, { 'if-match': '"2"' })).status).toBe(412)
})

test('a list, a report and the OpenAPI document have an ETag, by which they are 304 until they change', {
  tags: ['slow'],
}, async ({ admin }) => {
  const { path } = await courseOf(admin)
  for (const list of ['/v1/courses', '/v1/analytics/learners', '/v1/keys', '/v1/openapi.json']) {
    const first = await admin.get(list)
    const tag = first.headers.get('etag') ?? ''
    expect(tag, list).toMatch(/^"[\w-]{22}"$/)
    const again = await admin.get(list, { 'if-none-match': tag })
    expect(again, list).toMatchObject({ status: 304, text: '' })
    expect(again.headers.get('etag')).toBe(tag)
  }
  const before = (await admin.get('/v1/courses')).headers.get('etag') ?? ''
  await admin.put(path, { title: 'Rhetoric' })
  const after = await admin.get('/v1/courses', { 'if-none-match': before })
  expect(after.status).toBe(200)
  expect(after.headers.get('etag')).not.toBe(before)
})

test.for(['"2"', '*', '"1", "2"', '"1","2"', ' , "2" ,, "9"', '"1,2", W/"7", "2"'])(
  'If-Match %s is met by version 2',
  async (tag, { admin }) => {
    const { path } = await courseOf(admin)
    await admin.put(path, { title: 'Rhetoric' })
    expect((await admin.put(path, { title: 'Grammar' }, { 'if-match': tag })).status).toBe(200)
  },
)

test('If-None-Match with the current version is 304 without a body', async ({ admin }) => {
  const { path } = await courseOf(admin)
  for (const tag of ['"1"', 'W/"1"', '*', '"0", "1"']) {
    const answer = await admin.get(path, { 'if-none-match': tag })
    expect(answer).toMatchObject({ status: 304, text: '' })
    expect(answer.headers.get('etag')).toBe('"1"')
  }
  expect((await admin.get(path, { 'if-none-match': '"2"' })).status).toBe(200)
})

test('an update that changes nothing keeps version and times', async ({ admin, clock }) => {
  const { path } = await courseOf(admin)
  const before = (await admin.get(path)).body
  clock.advance(hour)
  const update = await admin.put(path, { title: ' Logic ', difficulty: null, ...before })
  expect(update.body).toMatchObject({
    version: 1,
    previousVersion: 1,
    modifiedAttributes: [],
    course: before,
  })
})

test('users, lessons, enrolments and progress have versions alike', async ({ admin, learner }) => {
  const { id: courseId } = await courseOf(admin)
  const lesson = (await admin.post('/v1/lessons', { courseId, title: 'One' })).body
  const enrollment = (await admin.post('/v1/enrollments', { courseId, userId: learner.id })).body
  const progress = { courseId, completionPercentage: 10 }
  await admin.put(`/v1/learners/${learner.id}/progress`, progress)
  const paths: readonly (readonly [string, unknown])[] = [
    [`/v1/users/${learner.id}`, { username: 'ada' }],
    [`/v1/lessons/${lesson.id}`, { title: 'Two' }],
    [`/v1/enrollments/${enrollment.id}`, { managedBy: 'sis' }],
    [`/v1/learners/${learner.id}/progress`, { ...progress, completionPercentage: 20 }],
  ]
  for (const [path, body] of paths) {
    expect(await admin.put(path, body, { 'if-match': '"9"' }), path).toMatchObject({ status: 412 })
    const answer = await admin.put(path, body, { 'if-match': '"1"' })
    expect(answer, path).toMatchObject({ status: 200, body: { version: 2 } })
    expect(answer.headers.get('etag')).toBe('"2"')
  }
})

test('what a lesson shows never changes under the same ETag', async ({ admin }) => {
  const { id: courseId, path } = await courseOf(admin)
  const { body: update } = await admin.put(path, { modules: [{ title: 'First' }] })
  const moduleId = update.course.modules[0].id
  const lesson = (await admin.post('/v1/lessons', { courseId, moduleId, title: 'One' })).body
  const seen = `/v1/lessons/${lesson.id}`
  await admin.post('/v1/lessons', { courseId, title: 'Zero', order: 1 })
  const shifted = await admin.get(seen, { 'if-none-match': '"1"' })
  expect(shifted).toMatchObject({ status: 200, body: { order: 2 } })
  await admin.put(path, { modules: [] })
  const released = await admin.get(seen, { 'if-none-match': shifted.headers.get('etag') ?? '' })
  expect(released).toMatchObject({ status: 200, body: { moduleId: null } })
})

test('a zero with a sign is no change', async ({ admin }) => {
  const { body } = await admin.post('/v1/courses', {
    title: 'Logic',
    assessmentCriteria: { passingScore: 0 },
  })
  const signed = '{"assessmentCriteria":{"passingScore":-0}}'
  const again = await admin.send('PUT', `/v1/courses/${body.id}`, signed, {
    'content-type': 'application/json',
  })
  expect(again.body).toMatchObject({ version: 1, modifiedAttributes: [] })
})
