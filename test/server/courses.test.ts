import { expect } from 'vitest'
import { hour, type Person, start, test } from '../helpers/academy.ts'

test('a course needs a title only; everything else has a default', async ({ instructor }) => {
  const made = await instructor.post('/v1/courses', { title: '  Logic  ' })
  expect(made.status).toBe(201)
  expect(made.headers.get('location')).toBe(`/v1/courses/${made.body.id}`)
  expect(made.headers.get('etag')).toBe('"1"')
  expect(made.body).toEqual({
    id: expect.stringMatching(/^crs_[0-9a-z]+$/),
    externalId: null,
    title: 'Logic',
    description: '',
    difficulty: 'beginner',
    learningObjectives: [],
    modules: [],
    assessmentCriteria: { passingScore: 70, moveOn: 'Completed', weights: [] },
    adaptiveDifficulty: {
      enabled: false,
      minLevel: null,
      maxLevel: null,
      raiseAtScore: 85,
      lowerAtScore: 50,
      window: 3,
    },
    progressTracking: { enabled: true, completionThreshold: 100 },
    tags: [],
    language: null,
    durationMinutes: null,
    managedBy: null,
    status: 'draft',
    version: 1,
    createdAt: start,
    updatedAt: start,
    publishedAt: null,
    archivedAt: null,
  })
  expect((await instructor.get(`/v1/courses/${made.body.id}`)).body).toEqual(made.body)
})

test('an update merges: absent is kept, null is the default, objects merge, arrays are replaced', async ({
  admin,
}) => {
  const { body: course } = await admin.post('/v1/courses', {
    title: 'Logic',
    description: 'Old',
    difficulty: 'expert',
    tags: ['a', 'b'],
    assessmentCriteria: { passingScore: 50, moveOn: 'Passed' },
  })
  const update = await admin.put(`/v1/courses/${course.id}`, {
    description: null,
    tags: ['c'],
    assessmentCriteria: { passingScore: null, weights: [{ name: 'Exam', weight: 100 }] },
  })
  expect(update.body).toMatchObject({
    id: course.id,
    version: 2,
    previousVersion: 1,
    modifiedAttributes: ['description', 'assessmentCriteria', 'tags'],
    course: {
      title: 'Logic',
      description: '',
      difficulty: 'expert',
      tags: ['c'],
      assessmentCriteria: { passingScore: 70, moveOn: 'Passed', weights: [{ name: 'Exam', weight: 100 }] },
    },
  })
})

test('merge-patch+json says the same; null on a required field is 422', async ({ admin }) => {
  const { body: course } = await admin.post('/v1/courses', { title: 'Logic' })
  const patch = (body: string) =>
    admin.send('PUT', `/v1/courses/${course.id}`, body, { 'content-type': 'application/merge-patch+json' })
  expect((await patch('{"difficulty":"advanced"}')).body.course.difficulty).toBe('advanced')
  expect(await patch('{"title":null}')).toMatchObject({
    status: 422,
    body: { errors: [{ pointer: '#/title', code: 'required' }] },
  })
})

test('merge-patch+json is no way to create', async ({ admin }) => {
  const type = { 'content-type': 'application/merge-patch+json' }
  expect((await admin.send('POST', '/v1/courses', '{"title":"Logic"}', type)).status).toBe(415)
})

test('a read-only field sent back equal is ignored, different is 422 read_only', async ({ admin }) => {
  const { body: course } = await admin.post('/v1/courses', { title: 'Logic' })
  const path = `/v1/courses/${course.id}`
  expect((await admin.put(path, { ...course, title: 'Rhetoric' })).body.version).toBe(2)
  const answer = await admin.put(path, { version: 7, createdAt: course.createdAt, id: 'crs_other' })
  expect(answer).toMatchObject({ status: 422, body: { code: 'read_only' } })
  expect(answer.body.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(['#/version', '#/id'])
})

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

test('an archived course does not become a draft', async ({ admin }) => {
  expect(await admin.put(await courseIn(admin, 'archived'), { status: 'draft' })).toMatchObject({
    status: 409,
    body: { code: 'invalid_transition', from: 'archived', to: 'draft', allowed: ['published'] },
  })
})

test('a course is not made archived', async ({ admin }) => {
  expect(await admin.post('/v1/courses', { title: 'Logic', status: 'archived' })).toMatchObject({
    status: 409,
    body: { code: 'invalid_transition', to: 'archived', allowed: ['draft', 'published'] },
  })
})

test('a published course goes back to draft only while nobody has progress in it', async ({
  admin,
  learner,
}) => {
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
  expect((await admin.delete(path)).status).toBe(204)
})

test('a course with progress is deleted by force only, with all that hangs on it', async ({
  academy,
  admin,
  learner,
}) => {
  const path = await courseIn(admin, 'published')
  const courseId = path.split('/').at(-1) ?? ''
  await admin.post('/v1/lessons', { courseId, title: 'One' })
  await progressIn(admin, path, learner)
  academy.grade({ learnerId: learner.id, courseId, scoreGiven: 90 })
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
})

test('a course without progress takes its lessons and enrolments along', async ({ admin, learner }) => {
  const path = await courseIn(admin, 'draft')
  await admin.post('/v1/enrollments', { courseId: path.split('/').at(-1), userId: learner.id })
  expect((await admin.delete(path)).status).toBe(204)
  expect((await admin.delete(path)).status).toBe(404)
})

test('modules have ids and places; those sent back keep theirs', async ({ admin }) => {
  const { body: course } = await admin.post('/v1/courses', {
    title: 'Logic',
    modules: [
      { title: 'Second', order: 2 },
      { title: 'First', order: 1 },
    ],
  })
  expect(course.modules.map(({ title }: { title: string }) => title)).toEqual(['First', 'Second'])
  const [first, second] = course.modules
  const path = `/v1/courses/${course.id}`
  const { body } = await admin.put(path, {
    modules: [{ id: second.id, title: 'Second' }, { title: 'Third' }],
  })
  expect(body.course.modules).toEqual([
    { id: second.id, title: 'Second', description: '', order: 1 },
    { id: expect.stringMatching(/^mod_/), title: 'Third', description: '', order: 2 },
  ])
  const twice = { id: second.id, title: 'Twice' }
  expect(await admin.put(path, { modules: [{ ...first }, twice, twice] })).toMatchObject({
    status: 422,
    body: {
      errors: [
        { pointer: '#/modules/0/id', code: 'unknown_id' },
        { pointer: '#/modules/2/id', code: 'unknown_id' },
      ],
    },
  })
})

test('an external id is unique among courses, and a way to name the course', async ({ admin }) => {
  const { body: course } = await admin.post('/v1/courses', { title: 'Logic', externalId: 'SIS/é 1' })
  expect((await admin.get(`/v1/courses/ext:${encodeURIComponent('SIS/é 1')}`)).body.id).toBe(course.id)
  expect(await admin.post('/v1/courses', { title: 'Other', externalId: 'SIS/é 1' })).toMatchObject({
    status: 409,
    body: {
      code: 'duplicate',
      id: course.id,
      existingStatus: 'draft',
      errors: [{ pointer: '#/externalId', code: 'duplicate' }],
    },
  })
  const other = (await admin.post('/v1/courses', { title: 'Other' })).body
  expect((await admin.put(`/v1/courses/${other.id}`, { externalId: 'SIS/é 1' })).status).toBe(409)
})

test('courses are found by status, level, text, tag, external id, owner and time of change', async ({
  admin,
  clock,
}) => {
  await admin.post('/v1/courses', { title: 'Über Logik', tags: ['a', 'b'], managedBy: 'sis' })
  clock.advance(hour)
  await admin.post('/v1/courses', {
    title: 'Two',
    description: 'ÜBERALL 100%',
    status: 'published',
    externalId: 'x',
  })
  await admin.post('/v1/courses', { title: 'Three', difficulty: 'expert' })
  const found = async (query: string) => {
    const { body } = await admin.get(`/v1/courses?sort=title&${query}`)
    return body.data.map(({ title }: { title: string }) => title)
  }
  expect(await found('status=published')).toEqual(['Two'])
  expect(await found('status=draft,published&difficulty=beginner')).toEqual(['Two', 'Über Logik'])
  expect(await found('difficulty=expert,advanced')).toEqual(['Three'])
  expect(await found('q=über')).toEqual(['Two', 'Über Logik'])
  expect(await found('q=100%25')).toEqual(['Two'])
  expect(await found('q=_')).toEqual([])
  expect(await found('tag=b')).toEqual(['Über Logik'])
  expect(await found('external_id=x')).toEqual(['Two'])
  expect(await found('managed_by=sis')).toEqual(['Über Logik'])
  expect(await found('updated_since=2026-03-01T14:00:00%2B01:00')).toEqual(['Three', 'Two'])
})

test('learners see published courses only; a draft is not there for them', async ({ admin, learner }) => {
  const draft = await courseIn(admin, 'draft')
  const published = await courseIn(admin, 'published')
  expect((await learner.get('/v1/courses?status=draft,published')).body.data).toHaveLength(1)
  expect((await learner.get(published)).status).toBe(200)
  expect(await learner.get(draft)).toMatchObject({ status: 404, body: { code: 'not_found' } })
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
