import { expect } from 'vitest'
import { type Person, test } from '../../helpers/academy.ts'

interface Place {
  readonly courseId: string
  /** Sets a grade; returns the response. */
  grade(item: object): ReturnType<Person['put']>
  /** Returns the learner's row of analytics. */
  row(): Promise<Record<string, unknown>>
}

async function enrolled(admin: Person, learner: Person, course: object = {}): Promise<Place> {
  const { id: courseId } = (
    await admin.post('/v1/courses', { title: 'Logic', externalId: 'LOG', status: 'published', ...course })
  ).body
  await admin.post('/v1/enrollments', { courseId, userId: learner.id })
  return {
    courseId,
    grade: (item) => admin.put('/v1/grades', { learnerId: learner.id, courseId, ...item }),
    row: async () =>
      (await admin.get(`/v1/analytics/learners?course_id=${courseId}&learner_id=${learner.id}`)).body.data[0],
  }
}

test('a grade is shown with learner and course, and counts for it', async ({ admin, learner }) => {
  const { grade, row, courseId } = await enrolled(admin, learner)
  expect(await row()).toMatchObject({ gradePercent: null, passed: null })
  const set = await grade({ scoreGiven: 17, scoreMaximum: 20 })
  expect(set).toMatchObject({
    status: 200,
    body: {
      id: expect.stringMatching(/^grd_/),
      learnerId: learner.id,
      userEmail: learner.email,
      courseTitle: 'Logic',
      courseExternalId: 'LOG',
      itemId: '$course',
      source: 'manual',
      percent: 85,
      weight: null,
      version: 1,
    },
  })
  expect(await row()).toMatchObject({
    gradePercent: 85,
    passed: true,
    gradeUpdatedAt: '2026-03-01T12:00:00.000Z',
  })
  expect((await admin.get(`/v1/grades/${set.body.id}`)).body).toEqual(set.body)
  expect((await admin.get(`/v1/grades?course_id=${courseId}`)).body.data).toEqual([set.body])
})

test('the grade of a course is the mean of its items, by weights', async ({ admin, learner }) => {
  const weights = [
    { name: 'Essay', weight: 25 },
    { name: 'exam', weight: 75 },
  ]
  const { grade, row } = await enrolled(admin, learner)
  await grade({ itemId: 'a', scoreGiven: 50 })
  await grade({ itemId: 'b', scoreGiven: 100 })
  expect(await row()).toMatchObject({ gradePercent: 75 })
  await grade({ itemId: 'a', scoreGiven: 50, weight: 60 })
  await grade({ itemId: 'b', scoreGiven: 100, weight: 20 })
  expect(await row()).toMatchObject({ gradePercent: 62.5 })
  await grade({ scoreGiven: 40 })
  expect(await row()).toMatchObject({ gradePercent: 40, passed: false })

  const other = await enrolled(admin, learner, { externalId: 'ETH', assessmentCriteria: { weights } })
  await other.grade({ itemId: 'essay-1', label: 'Essay', scoreGiven: 100 })
  await other.grade({ itemId: 'exam', scoreGiven: 60 })
  expect(await other.row()).toMatchObject({ gradePercent: 70 })
})

test('changed weights warn of names without item and items left out', async ({ admin, learner }) => {
  const { grade, courseId } = await enrolled(admin, learner)
  const update = async (...weights: object[]) =>
    (await admin.put(`/v1/courses/${courseId}`, { assessmentCriteria: { weights } })).body.warnings
  await grade({ itemId: 'e-1', label: 'Exam', scoreGiven: 80 })
  await grade({ itemId: 'quiz', scoreGiven: 20 })
  expect(await update({ name: 'Exam', weight: 70 }, { name: 'quiz', weight: 30 })).toBeUndefined()
  expect(await update({ name: 'Exma', weight: 70 }, { name: 'quiz', weight: 30 })).toMatchObject([
    { code: 'no_item', detail: expect.stringContaining('Exma') },
    { code: 'unweighted', detail: expect.stringContaining('e-1') },
  ])
  // Without any effective weight, all items count equally.
  expect(await update({ name: 'Exma', weight: 70 })).toMatchObject([{ code: 'no_item' }])
})

test('a corrected grade keeps its other fields; null sets the default', async ({ admin, learner }) => {
  const { grade, row } = await enrolled(admin, learner)
  await grade({ itemId: 'tma', scoreGiven: 82, weight: 50 })
  await grade({
    itemId: 'exam',
    scoreGiven: 16,
    scoreMaximum: 20,
    weight: 50,
    label: 'Exam',
    published: false,
  })
  await grade({ itemId: 'exam', scoreGiven: 16, published: true })
  const { body } = await grade({ itemId: 'exam', scoreGiven: 4 })
  expect(body).toMatchObject({ scoreMaximum: 20, weight: 50, label: 'Exam', published: true, version: 3 })
  expect(body.warnings).toBeUndefined()
  expect(await row()).toMatchObject({ gradePercent: 51 })
  const reset = { scoreMaximum: null, weight: null, label: null, published: null }
  expect((await grade({ itemId: 'exam', scoreGiven: 4, ...reset })).body).toMatchObject({
    scoreMaximum: 100,
    weight: null,
    label: '',
    published: true,
    warnings: [{ code: 'unweighted', detail: expect.stringContaining('Item exam has no weight') }],
  })
  // The stored weight may be lower than the new score requires.
  await grade({ itemId: 'quiz', scoreGiven: 0.1, scoreMaximum: 0.1 })
  expect(await grade({ itemId: 'quiz', scoreGiven: 11 })).toMatchObject({
    status: 422,
    body: { errors: [{ pointer: '#/scoreGiven', code: 'out_of_range' }] },
  })
})

test('a first grade takes its weight and maximum from others', async ({ admin, learner, academy }) => {
  const weights = [{ name: 'Essay', weight: 25 }]
  const { grade, courseId } = await enrolled(admin, learner, { assessmentCriteria: { weights } })
  const other = await academy.person('learner')
  await admin.post('/v1/enrollments', { courseId, userId: other.id })
  const ofOther = async (item: object) =>
    (await admin.put('/v1/grades', { learnerId: other.id, courseId, ...item })).body
  await grade({ itemId: 'exam', scoreGiven: 17, scoreMaximum: 20, weight: 60, label: 'Exam' })
  await grade({ itemId: 'essay-1', scoreGiven: 50, weight: 90, label: 'Essay' })
  expect(await ofOther({ itemId: 'exam', scoreGiven: 10 })).toMatchObject({
    label: 'Exam',
    scoreMaximum: 20,
    weight: 60,
  })
  expect(await ofOther({ itemId: 'essay-1', scoreGiven: 10 })).toMatchObject({ label: 'Essay', weight: null })
  expect(await ofOther({ itemId: 'exam', scoreGiven: 10, weight: 5 })).toMatchObject({ weight: 5 })
  expect((await ofOther({ itemId: 'quiz', scoreGiven: 10 })).warnings).toMatchObject([{ code: 'unweighted' }])
  // The grade of the whole course has no item and overrides weights.
  await ofOther({ scoreGiven: 50 })
  expect((await ofOther({ itemId: 'quiz', scoreGiven: 11 })).warnings).toBeUndefined()
})

test('of several maxima a first grade takes the newest, and warns', async ({ admin, learner, academy }) => {
  const { grade, courseId } = await enrolled(admin, learner)
  const [first, second] = [await academy.person('learner'), await academy.person('learner')]
  for (const { id: userId } of [first, second]) await admin.post('/v1/enrollments', { courseId, userId })
  const ofOther = async (learnerId: string, item: object) =>
    (await admin.put('/v1/grades', { learnerId, courseId, itemId: 'exam', ...item })).body
  await grade({ itemId: 'exam', scoreGiven: 17, scoreMaximum: 30 })
  await ofOther(first.id, { scoreGiven: 10, scoreMaximum: 20 })
  expect(await ofOther(second.id, { scoreGiven: 18 })).toMatchObject({
    scoreMaximum: 20,
    warnings: [{ code: 'several_maxima', detail: expect.stringContaining('20') }],
  })
  expect((await ofOther(second.id, { scoreGiven: 19 })).warnings).toBeUndefined()
})

test('without a source the only grade changes, else it is required', async ({ admin, learner }) => {
  const { grade, courseId } = await enrolled(admin, learner)
  const { id } = (await grade({ itemId: 'exam', source: 'examples', scoreGiven: 50 })).body
  expect((await grade({ itemId: 'exam', scoreGiven: 60 })).body).toMatchObject({ id, source: 'examples' })
  expect((await grade({ itemId: 'essay', scoreGiven: 60 })).body).toMatchObject({ source: 'manual' })
  await grade({ itemId: 'exam', source: 'canvas', scoreGiven: 70 })
  expect(await grade({ itemId: 'exam', scoreGiven: 80 })).toMatchObject({
    status: 422,
    body: {
      errors: [
        { pointer: '#/source', code: 'required', detail: expect.stringContaining('canvas, examples') },
      ],
    },
  })
  expect((await grade({ itemId: 'exam', source: 'canvas', scoreGiven: 80 })).status).toBe(200)
  const item = { learnerId: learner.id, courseId, itemId: 'exam', scoreGiven: 90 }
  const { results } = (await admin.post('/v1/grades/batch', { items: [item, { ...item, itemId: 'essay' }] }))
    .body
  expect(results).toMatchObject([{ status: 422, code: 'validation_failed' }, { status: 200 }])
})

test('a passing grade completes the enrolment where asked for', async ({ admin, learner }) => {
  const { grade, row } = await enrolled(admin, learner, {
    assessmentCriteria: { passingScore: 60, moveOn: 'Passed' },
  })
  await grade({ scoreGiven: 59.9 })
  expect(await row()).toMatchObject({ enrollmentStatus: 'active', passed: false })
  await grade({ scoreGiven: 60 })
  expect(await row()).toMatchObject({ enrollmentStatus: 'completed', passed: true })
})

test('an older grade never replaces a newer one, an equal one does', async ({ admin, learner }) => {
  const { grade } = await enrolled(admin, learner)
  const at = (gradedAt: string, scoreGiven: number) => grade({ itemId: 'exam', scoreGiven, gradedAt })
  const { body: first } = await at('2026-02-02T00:00:00Z', 50)
  expect(await at('2026-02-01T00:00:00Z', 90)).toMatchObject({
    status: 409,
    body: { code: 'stale_grade', current: first },
  })
  expect((await at('2026-02-02T00:00:00Z', 50)).body).toEqual(first)
  expect((await at('2026-02-02T00:00:00Z', 60)).body).toMatchObject({
    id: first.id,
    scoreGiven: 60,
    version: 2,
  })
  const { data } = (await admin.get(`/v1/grades/${first.id}/history`)).body
  expect(data).toMatchObject([
    { version: 2, scoreGiven: 60, recordedBy: admin.id, recordedByEmail: admin.email },
    { version: 1, scoreGiven: 50 },
  ])
})

test('a deleted grade no longer counts', async ({ admin, learner }) => {
  const { grade, row } = await enrolled(admin, learner)
  const kept = (await grade({ itemId: 'a', scoreGiven: 50 })).body
  const gone = (await grade({ itemId: 'b', scoreGiven: 100 })).body
  expect((await admin.delete(`/v1/grades/${gone.id}`)).status).toBe(204)
  expect(await row()).toMatchObject({ gradePercent: 50 })
  expect((await admin.get(`/v1/grades/${gone.id}/history`)).status).toBe(404)
  await admin.delete(`/v1/grades/${kept.id}`)
  expect(await row()).toMatchObject({ gradePercent: null, passed: null })
})

test('only learners are graded, and only scores are grades', async ({ admin, learner, analyst }) => {
  const { grade, courseId } = await enrolled(admin, learner)
  expect(await grade({ learnerId: analyst.id, scoreGiven: 1 })).toMatchObject({
    status: 409,
    body: { code: 'enrollment_inactive' },
  })
  expect(await grade({ learnerId: 'ext:none', scoreGiven: 1 })).toMatchObject({
    status: 404,
    body: { errors: [{ pointer: '#/learnerId' }] },
  })
  for (const body of [
    { scoreGiven: -1 },
    { scoreGiven: '17' },
    { scoreGiven: 1, scoreMaximum: 0 },
    { scoreGiven: 1, weight: 101 },
    { scoreGiven: 1, percent: 3 },
  ]) {
    expect((await grade(body)).status, JSON.stringify(body)).toBe(422)
  }
  // With these values, no sum of grades would be exact, and some would not be numbers.
  for (const [scoreGiven, scoreMaximum] of [
    [83, 5e-324],
    [1_000_000, 0.0001],
    [10.1, 0.1],
  ]) {
    expect(await grade({ scoreGiven, scoreMaximum })).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: '#/scoreGiven', code: 'out_of_range' }] },
    })
  }
  expect((await grade({ scoreGiven: 0, scoreMaximum: 5e-324 })).body.percent).toBe(0)
  expect((await grade({ scoreGiven: 25, scoreMaximum: 5 })).body.percent).toBe(500)
  for (const scoreMaximum of [20, undefined]) {
    expect(await grade({ scoreGiven: 27, scoreMaximum, extraCredit: false })).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: '#/scoreGiven', code: 'above_maximum' }] },
    })
  }
  expect((await grade({ scoreGiven: 27, scoreMaximum: 20, extraCredit: true })).body.percent).toBe(135)
  await admin.put(`/v1/courses/${courseId}`, { status: 'archived' })
  expect(await grade({ scoreGiven: 1 })).toMatchObject({ status: 409, body: { code: 'course_archived' } })
})

test.for(['?erase=true', ''])(
  'a learner who was deleted with "%s" is graded no more, by one request or in a batch',
  async (how, { admin, learner }) => {
    const { grade, courseId } = await enrolled(admin, learner)
    const { body: before } = await grade({ itemId: 'a', scoreGiven: 60 })
    await admin.delete(`/v1/users/${learner.id}${how}`)
    for (const itemId of ['a', 'b']) {
      expect(await grade({ itemId, scoreGiven: 70 })).toMatchObject({
        status: 409,
        body: { code: 'user_inactive' },
      })
    }
    const items = [{ learnerId: learner.id, courseId, itemId: 'a', scoreGiven: 70 }]
    for (const onExists of ['fail', 'skip', 'update']) {
      const { results } = (await admin.post('/v1/grades/batch', { onExists, items })).body
      expect(results).toMatchObject([{ status: 409, code: 'user_inactive' }])
    }
    expect((await admin.get(`/v1/grades/${before.id}`)).body.scoreGiven).toBe(60)
  },
)

test('learners see their own grades, and cannot change them', async ({ admin, learner, academy }) => {
  const { grade, courseId } = await enrolled(admin, learner)
  const own = (await grade({ scoreGiven: 70 })).body
  const other = await academy.person('learner')
  expect((await learner.get('/v1/grades')).body.data).toEqual([own])
  expect((await other.get('/v1/grades')).body.data).toEqual([])
  expect((await other.get(`/v1/grades/${own.id}`)).status).toBe(404)
  expect((await other.get(`/v1/grades/${own.id}/history`)).status).toBe(404)
  expect((await learner.put('/v1/grades', { learnerId: learner.id, courseId, scoreGiven: 100 })).status).toBe(
    403,
  )
})

test('grades come in batches', async ({ admin, learner }) => {
  const { courseId, row } = await enrolled(admin, learner)
  const item = (itemId: string, scoreGiven: number) => ({
    learnerId: learner.id,
    courseId,
    itemId,
    scoreGiven,
  })
  const items = [item('a', 50), item('b', -1), { ...item('c', 1), courseId: 'ext:none' }]
  const { results } = (await admin.post('/v1/grades/batch', { items })).body
  expect(results).toMatchObject([{ status: 201 }, { status: 422 }, { status: 404 }])
  const again = (await admin.post('/v1/grades/batch', { items: [item('a', 50), item('a', 70)] })).body
  expect(again.results).toMatchObject([{ status: 200, code: 'unchanged' }, { status: 200 }])
  const taken = `User ${learner.email} already has a grade for item a in course `
  for (const [onExists, expected] of [
    ['skip', { status: 200, code: 'skipped' }],
    ['fail', { status: 409, code: 'duplicate', detail: expect.stringContaining(taken) }],
  ] as const) {
    const { body } = await admin.post('/v1/grades/batch', { onExists, items: [item('a', 90)] })
    expect(body.results).toMatchObject([expected])
  }
  expect(await row()).toMatchObject({ gradePercent: 70 })
})
