import { expect } from 'vitest'
import { hour, type Person, test } from '../../helpers/academy.ts'

test.for([
  ['draft', 'published'],
  ['draft', 'archived'],
  ['published', 'draft'],
  ['published', 'archived'],
  ['archived', 'published'],
])('a %s course may become %s', async ([from = '', to], { admin }) => {
  const path = await courseIn(admin, from)
  const answer = await admin.put(path, { status: to })
  expect(answer).toMatchObject({
    status: 200,
    body: { course: { status: to }, modifiedAttributes: ['status'] },
  })
})

test('an archived course does not become a draft, and none is made', async ({ admin }) => {
  expect(await admin.put(await courseIn(admin, 'archived'), { status: 'draft' })).toMatchObject({
    status: 409,
    body: { code: 'invalid_transition', from: 'archived', to: 'draft', allowed: ['published'] },
  })
  expect(await admin.post('/v1/courses', { title: 'Logic', status: 'archived' })).toMatchObject({
    status: 409,
    body: { code: 'invalid_transition', to: 'archived', allowed: ['draft', 'published'] },
  })
})

test('a published course goes back to draft only while it has no progress', async ({ admin, learner }) => {
  const path = await courseIn(admin, 'published')
  await progressIn(admin, path, learner)
  expect(await admin.put(path, { status: 'draft' })).toMatchObject({
    status: 409,
    body: { code: 'invalid_transition', from: 'published', to: 'draft', allowed: ['archived'] },
  })
})

test('the times of publishing and archiving are those of the last time', async ({ admin, clock }) => {
  const path = await courseIn(admin, 'draft')
  const at = async (status: string) => {
    clock.advance(hour)
    const { publishedAt, archivedAt } = (await admin.put(path, { status })).body.course
    return { publishedAt, archivedAt }
  }
  const [one, two, three] = ['13', '14', '15'].map((hours) => `2026-03-01T${hours}:00:00.000Z`)
  expect(await at('published')).toEqual({ publishedAt: one, archivedAt: null })
  expect(await at('archived')).toEqual({ publishedAt: one, archivedAt: two })
  expect(await at('published')).toEqual({ publishedAt: three, archivedAt: null })
})

test('an archived course is closed but for its status and its deletion', async ({ admin, learner }) => {
  const { body: course } = await admin.post('/v1/courses', { title: 'Logic' })
  const path = `/v1/courses/${course.id}`
  const lesson = (await admin.post('/v1/lessons', { courseId: course.id, title: 'One' })).body
  const enrollment = (await admin.post('/v1/enrollments', { courseId: course.id, userId: learner.id })).body
  await admin.put(path, { title: 'Rhetoric' })
  await admin.put(path, { status: 'archived' })
  for (const answer of [
    await admin.put(path, { title: 'Grammar' }),
    await admin.put(path, { status: 'published', title: 'Grammar' }),
    await admin.post(`${path}/versions/1/restore`),
    await admin.post('/v1/lessons', { courseId: course.id, title: 'Two' }),
    await admin.put(`/v1/lessons/${lesson.id}`, { title: 'Two' }),
    await admin.delete(`/v1/lessons/${lesson.id}`),
    await admin.post('/v1/enrollments', { courseId: course.id, userId: admin.id }),
    await admin.put(`/v1/enrollments/${enrollment.id}`, { status: 'inactive' }),
    await admin.delete(`/v1/enrollments/${enrollment.id}`),
    await admin.put(`/v1/learners/${learner.id}/progress`, { courseId: course.id, completionPercentage: 1 }),
  ]) {
    expect(answer).toMatchObject({ status: 409, body: { code: 'course_archived' } })
  }
  expect((await admin.put(path, { status: 'archived', title: 'Rhetoric' })).body.modifiedAttributes).toEqual(
    [],
  )
  expect((await admin.delete(`${path}?force=true`)).status).toBe(204)
})

test('a course with progress is deleted by force, with its data', async ({ academy, admin, learner }) => {
  const path = await courseIn(admin, 'published')
  const courseId = path.split('/').at(-1) ?? ''
  await admin.post('/v1/lessons', { courseId, title: 'One' })
  await progressIn(admin, path, learner)
  await academy.grade({ learnerId: learner.id, courseId, scoreGiven: 90 })
  expect(await admin.delete(path)).toMatchObject({ status: 409, body: { code: 'has_progress' } })
  expect((await admin.get(path)).status).toBe(200)
  expect((await admin.delete(`${path}?force=true`)).status).toBe(204)
  expect((await admin.get(path)).status).toBe(404)
  for (const list of [
    '/v1/lessons',
    '/v1/enrollments',
    `/v1/learners/${learner.id}/progress`,
    '/v1/analytics/learners',
  ]) {
    expect((await admin.get(list)).body.data, list).toEqual([])
  }
  const graded = await courseIn(admin, 'published')
  const gradedId = graded.split('/').at(-1) ?? ''
  await admin.post('/v1/enrollments', { courseId: gradedId, userId: learner.id })
  await academy.grade({ learnerId: learner.id, courseId: gradedId, scoreGiven: 90 })
  expect(await admin.delete(graded)).toMatchObject({ status: 409, body: { code: 'has_progress' } })
  expect((await admin.delete(`${graded}?force=true`)).status).toBe(204)
})

test('a course with lessons alone is deleted by force only, or once they are gone', async ({ admin }) => {
  const path = await courseIn(admin, 'draft')
  const { body } = await admin.post('/v1/lessons', { courseId: path.split('/').at(-1), title: 'One' })
  const refused = await admin.delete(path)
  expect(refused).toMatchObject({ status: 409, body: { code: 'has_lessons' } })
  expect(refused.body.detail).toContain('has 1 lesson.')
  expect((await admin.get(`/v1/lessons/${body.id}`)).status).toBe(200)
  await admin.delete(`/v1/lessons/${body.id}`)
  expect((await admin.delete(path)).status).toBe(204)
})

test('a course without lessons and progress takes its enrolments along', async ({ admin, learner }) => {
  const path = await courseIn(admin, 'draft')
  await admin.post('/v1/enrollments', { courseId: path.split('/').at(-1), userId: learner.id })
  expect((await admin.delete(path)).status).toBe(204)
  expect((await admin.delete(path)).status).toBe(404)
})

async function courseIn(admin: Person, status: string): Promise<string> {
  const { body } = await admin.post('/v1/courses', {
    title: 'Logic',
    status: status === 'archived' ? 'draft' : status,
  })
  if (status === 'archived') await admin.put(`/v1/courses/${body.id}`, { status })
  return `/v1/courses/${body.id}`
}

async function progressIn(admin: Person, course: string, { id }: Person): Promise<void> {
  const courseId = course.split('/').at(-1)
  const answer = await admin.put(`/v1/learners/${id}/progress`, { courseId, completionPercentage: 10 })
  expect(answer.status).toBe(200)
}
