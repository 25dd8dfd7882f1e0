import { expect } from 'vitest'
import { start, test } from '../../helpers/academy.ts'
import { makeCourse, progressSetter } from './setter.ts'

test('the first progress enrols, and starts the course', async ({ admin, learner }) => {
  const courseId = await makeCourse(admin)
  const answer = await progressSetter(admin, learner, courseId)(12.5)
  expect(answer.status).toBe(200)
  expect(answer.body).toEqual({
    learnerId: learner.id,
    userEmail: learner.email,
    userExternalId: null,
    courseExternalId: null,
    courseId,
    courseTitle: 'Logic',
    completionPercentage: 12.5,
    status: 'in_progress',
    startedAt: start,
    lastAccessed: start,
    completedAt: null,
    version: 1,
    updatedAt: start,
  })
  expect((await admin.get('/v1/enrollments')).body.data).toMatchObject([
    { userId: learner.id, courseId, role: 'learner', status: 'active', source: 'progress' },
  ])
})

test('a record can be sent back as read, without changed fields', async ({ instructor, learner }) => {
  const courseId = await makeCourse(instructor)
  await instructor.post('/v1/enrollments', { courseId, userId: `email:${learner.email}` })
  const { body: record } = await progressSetter(instructor, learner, courseId)(12.5)
  const put = (body: object) => instructor.put(`/v1/learners/${learner.id}/progress`, body)
  expect(await put({ ...record, completionPercentage: 20 })).toMatchObject({
    status: 200,
    body: { completionPercentage: 20, version: 2 },
  })
  expect((await instructor.get(`/v1/learners/${learner.id}/progress`)).body.data).toMatchObject([
    { courseTitle: 'Logic', userEmail: learner.email },
  ])
  const other = { courseTitle: 'Rhetoric', userEmail: 'other@school.example' }
  expect(await put({ ...record, ...other, version: 7, status: 'completed' })).toMatchObject({
    status: 422,
    body: {
      code: 'read_only',
      errors: [
        { pointer: '#/userEmail', code: 'read_only' },
        { pointer: '#/courseTitle', code: 'read_only' },
        { pointer: '#/status', code: 'read_only' },
        { pointer: '#/version', code: 'read_only' },
      ],
    },
  })
})

test.for([-1, 100.1, 101, '50', 'NaN', null, true])(
  '%j per cent is 422, and nothing is set',
  async (value, { admin, learner }) => {
    const answer = await progressSetter(admin, learner, await makeCourse(admin))(value)
    expect(answer).toMatchObject({ status: 422, body: { errors: [{ pointer: '#/completionPercentage' }] } })
    expect((await admin.get(`/v1/learners/${learner.id}/progress`)).body.data).toEqual([])
  },
)

test('status follows the percentage and the threshold of the course', async ({ admin, learner }) => {
  const progressTracking = { completionThreshold: 80 }
  const set = progressSetter(admin, learner, await makeCourse(admin, { progressTracking }))
  expect((await set(0, '10:00')).body).toMatchObject({
    status: 'in_progress',
    startedAt: '2026-03-01T10:00:00.000Z',
  })
  expect((await set(0.01, '10:01')).body.status).toBe('in_progress')
  expect((await set(79.99, '10:02')).body).toMatchObject({ status: 'in_progress', completedAt: null })
  expect((await set(80, '10:03')).body).toMatchObject({ status: 'completed' })
})

test('started and completed keep the time of the first time', async ({ admin, learner }) => {
  const set = progressSetter(admin, learner, await makeCourse(admin))
  await set(10, '08:00')
  await set(100, '09:00')
  const times = { startedAt: '2026-03-01T08:00:00.000Z', completedAt: '2026-03-01T09:00:00.000Z' }
  expect((await set(40, '10:00')).body).toMatchObject({ status: 'in_progress', ...times })
  expect((await set(100, '11:00')).body).toMatchObject({ status: 'completed', ...times, version: 4 })
})

test('unknown learners and courses are 404, the course with its place', async ({ admin, learner }) => {
  const courseId = await makeCourse(admin)
  expect((await progressSetter(admin, { id: 'usr_none' }, courseId)(1)).status).toBe(404)
  expect(await progressSetter(admin, learner, 'crs_none')(1)).toMatchObject({
    status: 404,
    body: { code: 'not_found', errors: [{ pointer: '#/courseId', code: 'not_found' }] },
  })
})

test('a batch that replaces nothing names the progress that is there', async ({ admin, learner }) => {
  const courseId = await makeCourse(admin, { title: 'Ethics' })
  await progressSetter(admin, learner, courseId)(10)
  const items = [{ learnerId: learner.id, courseId, completionPercentage: 20 }]
  const { body } = await admin.post('/v1/progress/batch', { items, onExists: 'fail' })
  const detail = `User ${learner.email} already has progress in course Ethics.`
  expect(body.results).toMatchObject([{ status: 409, code: 'duplicate', id: learner.id, detail }])
})

test('an inactive enrolment or user, or no tracking, takes no progress', async ({ admin, learner }) => {
  const courseId = await makeCourse(admin)
  const set = progressSetter(admin, learner, courseId)
  const { body } = await admin.post('/v1/enrollments', { courseId, userId: learner.id, status: 'inactive' })
  const whose = `The enrolment of ${learner.email} in course ${body.courseTitle}`
  expect(await set(1)).toMatchObject({
    status: 409,
    body: {
      code: 'enrollment_inactive',
      detail: `${whose} is inactive; set the status of ${body.id} to active first.`,
      id: body.id,
    },
  })
  await admin.delete(`/v1/enrollments/${body.id}`)
  expect(await set(1)).toMatchObject({ status: 409, body: { code: 'enrollment_inactive' } })
  const untracked = await makeCourse(admin, { progressTracking: { enabled: false } })
  expect(await progressSetter(admin, learner, untracked)(1)).toMatchObject({
    status: 409,
    body: { code: 'progress_disabled' },
  })
  for (const status of ['suspended', 'deleted']) {
    await admin.put(`/v1/users/${learner.id}`, { status })
    expect(await progressSetter(admin, learner, await makeCourse(admin))(1)).toMatchObject({
      status: 409,
      body: { code: 'user_inactive' },
    })
  }
})

test('learners set and see their own progress where enrolled', async ({ admin, learner, analyst }) => {
  const courseId = await makeCourse(admin)
  expect(await progressSetter(learner, learner, courseId)(10)).toMatchObject({
    status: 403,
    body: { code: 'forbidden' },
  })
  await admin.post('/v1/enrollments', { courseId, userId: learner.id })
  expect((await progressSetter(learner, learner, courseId)(10)).status).toBe(200)
  expect((await progressSetter(learner, analyst, courseId)(10)).status).toBe(404)
  expect((await learner.get(`/v1/learners/${learner.id}/progress`)).body.data).toHaveLength(1)
  expect((await learner.get(`/v1/learners/${analyst.id}/progress`)).status).toBe(404)
  expect(
    (await learner.get(`/v1/learners/${analyst.id}/progress/history?course_id=${courseId}`)).status,
  ).toBe(404)
})

test('a draft takes progress from those who see it, not learners', async ({ admin, learner }) => {
  const courseId = await makeCourse(admin, { status: 'draft' })
  expect((await progressSetter(learner, learner, courseId)(10)).status).toBe(404)
  expect((await progressSetter(admin, learner, courseId)(10)).status).toBe(200)
})
