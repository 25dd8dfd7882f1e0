import { expect } from 'vitest'
import { hour, type Person, test } from '../../helpers/academy.ts'

async function courseOf(person: Person) {
  const { body } = await person.post('/v1/courses', { title: 'Logic' })
  return { id: body.id, path: `/v1/courses/${body.id}` }
}

test('a versioned resource has its version as ETag', async ({ admin }) => {
  const { path } = await courseOf(admin)
  expect((await admin.get(path)).headers.get('etag')).toBe('"1"')
  const update = await admin.put(path, { title: 'Rhetoric' }, { 'if-match': '"1"' })
  expect(update).toMatchObject({ status: 200, body: { version: 2, previousVersion: 1 } })
  expect(update.headers.get('etag')).toBe('"2"')
})

test('a stale If-Match is 412, with the version that is stored', async ({ admin }) => {
  const { path } = await courseOf(admin)
  await admin.put(path, { title: 'Rhetoric' })
  for (const stale of ['"1"', '"3"', 'W/"2"', '"1", "7"', '2']) {
    const answer = await admin.put(path, { title: 'Grammar' }, { 'if-match': stale })
    expect(answer).toMatchObject({ status: 412, body: { code: 'precondition_failed', version: 2 } })
    expect(answer.headers.get('etag')).toBe('"2"')
  }
  expect((await admin.delete(path, { 'if-match': '"1"' })).status).toBe(412)
  expect((await admin.get(path)).body.title).toBe('Rhetoric')
})

test.for(['"2"', '*', '"1", "2"'])('If-Match %s is met by version 2', async (tag, { admin }) => {
  const { path } = await courseOf(admin)
  await admin.put(path, { title: 'Rhetoric' })
  expect((await admin.put(path, { title: 'Grammar' }, { 'if-match': tag })).status).toBe(200)
})

test('of many with the same If-Match at once, one gets through', async ({ admin }) => {
  const { path } = await courseOf(admin)
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, index) => admin.put(path, { title: `T${index}` }, { 'if-match': '"1"' })),
  )
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(412)])
  expect((await admin.get(path)).body.version).toBe(2)
})

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
