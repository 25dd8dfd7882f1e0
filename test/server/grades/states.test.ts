import { expect } from 'vitest'
import { type Person, test } from '../../helpers/academy.ts'

interface Place {
  readonly courseId: string
  grade(item: object): ReturnType<Person['put']>
  row(): Promise<Record<string, unknown>>
  change(assessmentCriteria: object): ReturnType<Person['put']>
}

async function enrolled(admin: Person, learner: Person, assessmentCriteria: object = {}): Promise<Place> {
  const course = { title: 'Logic', externalId: 'LOG', status: 'published', assessmentCriteria }
  const { id: courseId } = (await admin.post('/v1/courses', course)).body
  await admin.post('/v1/enrollments', { courseId, userId: learner.id })
  return {
    courseId,
    grade: (item) => admin.put('/v1/grades', { learnerId: learner.id, courseId, ...item }),
    row: async () =>
      (await admin.get(`/v1/analytics/learners?course_id=${courseId}&learner_id=${learner.id}`)).body.data[0],
    change: (assessmentCriteria) => admin.put(`/v1/courses/${courseId}`, { assessmentCriteria }),
  }
}

test('a grade without a score counts no longer, and keeps out older ones', async ({ admin, learner }) => {
  const { grade, row } = await enrolled(admin, learner)
  const at = (gradedAt: string, scoreGiven: number | null) => grade({ itemId: 'exam', scoreGiven, gradedAt })
  await at('2026-02-01T00:00:00Z', 50)
  const { body } = await at('2026-02-03T00:00:00Z', null)
  expect(body).toMatchObject({
    scoreGiven: null,
    percent: null,
    version: 2,
    published: true,
    deliveryId: null,
  })
  expect(await row()).toMatchObject({ gradePercent: null, passed: null, gradeUpdatedAt: null })
  expect(await at('2026-02-02T00:00:00Z', 90)).toMatchObject({ status: 409, body: { code: 'stale_grade' } })
  expect((await at('2026-02-03T00:00:00Z', null)).body).toEqual(body)
  expect((await admin.get(`/v1/grades/${body.id}/history`)).body.data).toMatchObject([
    { version: 2, scoreGiven: null },
    { version: 1, scoreGiven: 50 },
  ])
  await at('2026-02-04T00:00:00Z', 0)
  expect(await row()).toMatchObject({ gradePercent: 0, passed: false })
})

test('a grade cannot be of the future: it would keep out later ones', async ({ admin, learner }) => {
  const { grade } = await enrolled(admin, learner)
  expect(await grade({ itemId: 'exam', scoreGiven: 50, gradedAt: '2062-02-01T00:00:00Z' })).toMatchObject({
    status: 422,
    body: { errors: [{ pointer: '#/gradedAt', code: 'in_future' }] },
  })
})

test('a score has to be there: only null clears a grade', async ({ admin, learner }) => {
  const { grade } = await enrolled(admin, learner)
  expect(await grade({ itemId: 'exam' })).toMatchObject({
    status: 422,
    body: { errors: [{ pointer: '#/scoreGiven', code: 'required' }] },
  })
})

test('a grade that is not published counts for nothing, unseen', async ({ admin, learner }) => {
  const { grade, row } = await enrolled(admin, learner, { passingScore: 40, moveOn: 'Passed' })
  const hidden = (await grade({ itemId: 'exam', scoreGiven: 90, published: false })).body
  expect(hidden).toMatchObject({ published: false, percent: 90 })
  expect(await row()).toMatchObject({ gradePercent: null, enrollmentStatus: 'active' })
  const seen = (await grade({ itemId: 'essay', scoreGiven: 30 })).body
  expect(await row()).toMatchObject({ gradePercent: 30, passed: false })
  expect((await learner.get('/v1/grades?include_total=true')).body).toMatchObject({ data: [seen], total: 1 })
  for (const path of ['', '/history']) {
    expect((await learner.get(`/v1/grades/${hidden.id}${path}`)).status).toBe(404)
  }

  await grade({ itemId: 'exam', scoreGiven: 95, published: true })
  expect(await row()).toMatchObject({ gradePercent: 62.5, passed: true, enrollmentStatus: 'completed' })
  const shown = await learner.get(`/v1/grades/${hidden.id}/history`)
  expect(shown.body.data).toMatchObject([{ version: 2, scoreGiven: 95, published: true }])
  expect((await admin.get(`/v1/grades/${hidden.id}/history`)).body.data).toHaveLength(2)
})

test('new weights of a course change the grades that it has', async ({ admin, learner }) => {
  const { grade, row, change } = await enrolled(admin, learner)
  await grade({ itemId: 'essay', scoreGiven: 100 })
  await grade({ itemId: 'exam', scoreGiven: 60 })
  expect(await row()).toMatchObject({ gradePercent: 80, passed: true })
  const weights = [
    { name: 'essay', weight: 10 },
    { name: 'exam', weight: 90 },
  ]
  await change({ weights })
  expect(await row()).toMatchObject({ gradePercent: 64, passed: false })
  await change({ weights: [] })
  expect(await row()).toMatchObject({ gradePercent: 80, passed: true })
})

test('a learner who meets new criteria has completed, for good', async ({ admin, learner }) => {
  const { grade, row, change } = await enrolled(admin, learner, { passingScore: 70, moveOn: 'Passed' })
  await grade({ scoreGiven: 60 })
  expect(await row()).toMatchObject({ passed: false, enrollmentStatus: 'active' })
  await change({ passingScore: 60 })
  expect(await row()).toMatchObject({ passed: true, enrollmentStatus: 'completed' })
  await change({ passingScore: 90 })
  expect(await row()).toMatchObject({ passed: false, enrollmentStatus: 'completed' })
})

test('progress completes the enrolment once no more is asked for', async ({ admin, learner }) => {
  const { row, change, courseId } = await enrolled(admin, learner, { moveOn: 'CompletedAndPassed' })
  const lastAccessed = '2026-02-01T00:00:00.000Z'
  await admin.put(`/v1/learners/${learner.id}/progress`, {
    courseId,
    completionPercentage: 100,
    lastAccessed,
  })
  expect(await row()).toMatchObject({ enrollmentStatus: 'active' })
  await change({ moveOn: 'Completed' })
  expect(await row()).toMatchObject({ enrollmentStatus: 'completed' })
  const { data } = (await admin.get(`/v1/enrollments?course_id=${courseId}`)).body
  expect(data[0].completedAt).toBe(lastAccessed)
})

test('a grade of the course itself says when it was given', async ({ admin, learner }) => {
  const { grade, row } = await enrolled(admin, learner)
  await grade({ scoreGiven: 80, gradedAt: '2026-01-01T00:00:00Z' })
  await grade({ itemId: 'exam', scoreGiven: 20, gradedAt: '2026-02-01T00:00:00Z' })
  expect(await row()).toMatchObject({ gradePercent: 80, gradeUpdatedAt: '2026-01-01T00:00:00.000Z' })
})
