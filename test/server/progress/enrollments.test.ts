import { expect } from 'vitest'
import { hour, type Person, start, test } from '../../helpers/academy.ts'

async function courseOf(admin: Person, assessmentCriteria: object = {}): Promise<string> {
  const course = { title: 'Logic', status: 'published', externalId: 'L1', assessmentCriteria }
  return (await admin.post('/v1/courses', course)).body.id
}

test('a user is enrolled in a course as a learner, active and now', async ({ instructor, learner }) => {
  const courseId = await courseOf(instructor)
  const made = await instructor.post('/v1/enrollments', { courseId, userId: learner.id })
  expect(made.status).toBe(201)
  expect(made.body).toEqual({
    id: expect.stringMatching(/^enr_/),
    courseId,
    courseTitle: 'Logic',
    userId: learner.id,
    userEmail: learner.email,
    userExternalId: null,
    courseExternalId: 'L1',
    role: 'learner',
    status: 'active',
    enrolledAt: start,
    completedAt: null,
    source: 'api',
    managedBy: null,
    version: 1,
    createdAt: start,
    updatedAt: start,
  })
})

test('an unknown course or user is 404 with its place', async ({ admin, learner }) => {
  const courseId = await courseOf(admin)
  expect(await admin.post('/v1/enrollments', { courseId: 'crs_none', userId: learner.id })).toMatchObject({
    status: 404,
    body: { code: 'not_found', errors: [{ pointer: '#/courseId', code: 'not_found' }] },
  })
  expect(await admin.post('/v1/enrollments', { courseId, userId: 'ext:none' })).toMatchObject({
    status: 404,
    body: { code: 'not_found', errors: [{ pointer: '#/userId', code: 'not_found' }] },
  })
})

test.for(['?erase=true', ''])(
  'a user who was deleted with "%s" is enrolled no more, by one request or in a batch',
  async (how, { admin, instructor, learner }) => {
    const courseId = await courseOf(instructor)
    await admin.put(`/v1/users/${learner.id}`, { externalId: 'S1' })
    await admin.put('/v1/settings', { instructorEnrollment: 'anyone' })
    await admin.delete(`/v1/users/${learner.id}${how}`)
    for (const userId of how ? [learner.id] : [learner.id, 'ext:S1']) {
      const refusal = { code: 'user_inactive', detail: `User ${userId} is deleted.` }
      const item = { courseId, userId }
      const one = await instructor.post('/v1/enrollments', item)
      expect(one).toMatchObject({ status: 409, body: refusal })
      for (const onExists of ['fail', 'skip', 'update']) {
        const batch = await instructor.post('/v1/enrollments/batch', { onExists, items: [item] })
        expect(batch.body.results).toEqual([{ index: 0, status: 409, ...refusal }])
        expect(one.text + batch.text).not.toContain(learner.email)
      }
    }
    expect((await instructor.get(`/v1/users/${learner.id}`)).status).toBe(404)
  },
)

test('no enrolment of a deleted user is revived, any other can end', async ({ admin, learner }) => {
  const courseId = await courseOf(admin)
  const { body } = await admin.post('/v1/enrollments', { courseId, userId: learner.id })
  const set = (status: string) => admin.put(`/v1/enrollments/${body.id}`, { status })
  await admin.delete(`/v1/users/${learner.id}`)
  expect((await set('inactive')).status).toBe(200)
  expect((await set('deleted')).status).toBe(200)
  expect(await set('active')).toMatchObject({ status: 409, body: { code: 'user_inactive' } })
  expect((await admin.post('/v1/enrollments', { courseId, userId: learner.id })).status).toBe(409)
  await admin.put(`/v1/users/${learner.id}`, { status: 'active' })
  expect((await set('active')).status).toBe(200)
})

test('there is one enrolment per course, user and role, revived too', async ({ admin, clock, learner }) => {
  const courseId = await courseOf(admin)
  const enrollment = { courseId, userId: learner.id }
  const { body: first } = await admin.post('/v1/enrollments', enrollment)
  expect(await admin.post('/v1/enrollments', enrollment)).toMatchObject({
    status: 409,
    body: {
      code: 'duplicate',
      detail: `User ${learner.email} is already enrolled in course ${first.courseTitle} as learner: ${first.id} (active).`,
      id: first.id,
      existingStatus: 'active',
    },
  })
  expect((await admin.delete(`/v1/enrollments/${first.id}`)).status).toBe(204)
  expect((await admin.get(`/v1/enrollments/${first.id}`)).body).toMatchObject({
    status: 'deleted',
    version: 2,
  })
  expect((await admin.get('/v1/enrollments')).body.data).toEqual([])
  expect((await admin.get('/v1/enrollments?status=deleted')).body.data).toHaveLength(1)
  clock.advance(hour)
  const revived = await admin.post('/v1/enrollments', enrollment)
  expect(revived).toMatchObject({
    status: 201,
    body: {
      id: first.id,
      status: 'active',
      version: 3,
      enrolledAt: '2026-03-01T13:00:00.000Z',
      createdAt: start,
    },
  })
  expect((await admin.post('/v1/enrollments', { ...enrollment, role: 'instructor' })).status).toBe(201)
})

test('title and address are those of now, and read-only', async ({ admin, learner }) => {
  const courseId = await courseOf(admin)
  const { body } = await admin.post('/v1/enrollments', { courseId, userId: learner.id })
  await admin.put(`/v1/courses/${courseId}`, { title: 'Rhetoric' })
  await admin.put(`/v1/users/${learner.id}`, { email: 'new@school.example' })
  const path = `/v1/enrollments/${body.id}`
  const now = { courseTitle: 'Rhetoric', userEmail: 'new@school.example', version: 1 }
  const { body: shown } = await admin.get(path)
  expect(shown).toMatchObject(now)
  expect((await admin.get('/v1/enrollments')).body.data).toMatchObject([now])
  expect(await admin.put(path, shown)).toMatchObject({ status: 200, body: now })
  for (const field of ['courseTitle', 'userEmail']) {
    expect(await admin.put(path, { [field]: 'other' }), field).toMatchObject({
      status: 422,
      body: { code: 'read_only', errors: [{ pointer: `#/${field}`, code: 'read_only' }] },
    })
  }
})

test('course, user and role of an enrolment do not change', async ({ admin, learner, analyst }) => {
  const { body } = await admin.post('/v1/enrollments', {
    courseId: await courseOf(admin),
    userId: learner.id,
  })
  const path = `/v1/enrollments/${body.id}`
  for (const [field, value] of [
    ['userId', analyst.id],
    ['role', 'instructor'],
  ] as const) {
    expect(await admin.put(path, { [field]: value })).toMatchObject({
      status: 422,
      body: { code: 'read_only', errors: [{ pointer: `#/${field}`, code: 'read_only' }] },
    })
  }
  expect((await admin.put(path, { courseId: 'ext:L1', managedBy: 'sis' })).body).toMatchObject({
    managedBy: 'sis',
  })
})

test('an enrolment set to completed has the time of it', async ({ admin, learner, clock }) => {
  const { body } = await admin.post('/v1/enrollments', {
    courseId: await courseOf(admin),
    userId: learner.id,
  })
  clock.advance(hour)
  const completed = await admin.put(`/v1/enrollments/${body.id}`, { status: 'completed' })
  expect(completed.body).toMatchObject({ status: 'completed', completedAt: '2026-03-01T13:00:00.000Z' })
})

const completed = '2026-03-01T11:00:00.000Z'

/** True if the enrolment is completed after all progress, after a pass, after both. */
test.for([
  ['Completed', true, false, true],
  ['Passed', false, true, true],
  ['CompletedAndPassed', false, false, true],
  ['CompletedOrPassed', true, true, true],
  ['NotApplicable', false, false, false],
] as const)(
  'moveOn %s: completed by progress %s, by a pass %s, by both %s',
  async ([moveOn, ...expected], { academy, admin }) => {
    const courseId = await courseOf(admin, { moveOn, passingScore: 60 })
    const people = await Promise.all(expected.map(() => academy.person('learner')))
    for (const [index, { id: learnerId }] of people.entries()) {
      const record = { courseId, completionPercentage: index === 1 ? 50 : 100, lastAccessed: completed }
      await admin.put(`/v1/learners/${learnerId}/progress`, record)
      await academy.grade({ learnerId, courseId, scoreGiven: index === 0 ? 59.9 : 60 })
      const { body } = await admin.get(`/v1/enrollments?user_id=${learnerId}`)
      expect(body.data[0].status === 'completed').toBe(expected[index])
    }
  },
)

test('an enrolment completed by progress has its time', async ({ admin, learner, clock }) => {
  const courseId = await courseOf(admin)
  const set = (completionPercentage: number, lastAccessed: string) =>
    admin.put(`/v1/learners/${learner.id}/progress`, { courseId, completionPercentage, lastAccessed })
  await set(100, completed)
  clock.advance(hour)
  await set(20, '2026-03-01T12:30:00Z')
  const { body } = await admin.get(`/v1/enrollments?user_id=${learner.id}`)
  expect(body.data).toMatchObject([{ status: 'completed', completedAt: completed, source: 'progress' }])
})

test('learners see their own enrolments, and ask for no others', async ({ admin, learner, analyst }) => {
  const courseId = await courseOf(admin)
  const { body: own } = await admin.post('/v1/enrollments', { courseId, userId: learner.id })
  const { body: other } = await admin.post('/v1/enrollments', { courseId, userId: analyst.id })
  expect((await learner.get('/v1/enrollments')).body.data).toMatchObject([{ id: own.id }])
  expect((await learner.get(`/v1/enrollments?user_id=${learner.id}`)).body.data).toHaveLength(1)
  expect((await learner.get(`/v1/enrollments/${other.id}`)).status).toBe(404)
  for (const name of [analyst.id, `email:${analyst.email}`, 'usr_none']) {
    expect(await learner.get(`/v1/enrollments?user_id=${name}`), name).toMatchObject({ status: 404 })
  }
})

test('enrolments are found by course, user, role and status', async ({ admin, learner, analyst }) => {
  const courseId = await courseOf(admin)
  const at = (enrolledAt: string, more: object) =>
    admin.post('/v1/enrollments', { courseId, enrolledAt, ...more })
  await at('2026-01-02T00:00:00Z', { userId: learner.id })
  await at('2026-01-01T00:00:00Z', { userId: analyst.id, role: 'instructor' })
  await at('2026-01-03T00:00:00Z', { userId: admin.id, status: 'inactive' })
  const found = async (query: string) => {
    const { body } = await admin.get(`/v1/enrollments?sort=enrolledAt&${query}`)
    return body.data.map(({ userId }: { userId: string }) => userId)
  }
  expect(await found('')).toEqual([analyst.id, learner.id, admin.id])
  expect(await found('role=learner&status=active,completed')).toEqual([learner.id])
  expect(await found(`course_id=${courseId}&user_id=${admin.id}`)).toEqual([admin.id])
})

test('an enrolment is answered at its creation as it is got later', async ({ admin }) => {
  await admin.post('/v1/courses', { title: 'Logic', externalId: 'L1', status: 'published' })
  await admin.post('/v1/users', { email: 'ann@example.org', externalId: 'S1' })
  const { status, body: made } = await admin.post('/v1/enrollments', {
    courseId: 'ext:L1',
    userId: 'email:ann@example.org',
    status: 'completed',
    enrolledAt: '2026-01-01T01:00:00+01:00',
    managedBy: 'sis',
  })
  expect(status).toBe(201)
  const { body: got } = await admin.get(`/v1/enrollments/${made.id}`)
  expect(JSON.stringify(made)).toBe(JSON.stringify(got))
  expect(got).toMatchObject({ courseExternalId: 'L1', userExternalId: 'S1', completedAt: got.createdAt })
})
