import { expect } from 'vitest'
import { type Person, type TestAcademy, test } from '../../helpers/academy.ts'
import { connect } from '../../helpers/lms.ts'
import { sample } from '../../lms/samples.ts'

/** Makes a learner in a course, with these external ids. */
async function learnerCandidatesOf(
  admin: Person,
  course: object,
  user: object,
): Promise<{ courseId: string; learnerId: string }> {
  const { id: courseId } = (
    await admin.post('/v1/courses', { title: 'Logic', status: 'published', ...course })
  ).body
  const { id: learnerId } = (await admin.post('/v1/users', { email: 'ada@school.example', ...user })).body
  await admin.post('/v1/enrollments', { courseId, userId: learnerId, enrolledAt: '2010-01-01T00:00:00Z' })
  return { courseId, learnerId }
}

const grades = async (admin: Person) => (await admin.get('/v1/grades')).body.data
const deliveries = async (admin: Person) => (await admin.get('/v1/webhooks/deliveries')).body.data
const row = async (admin: Person, courseId: string) =>
  (await admin.get(`/v1/analytics/learners?course_id=${courseId}`)).body.data[0]

test('canvas grade_change: a score above its maximum is kept as it is, with its item and time', {
  tags: ['slow'],
}, async ({ academy, admin }) => {
  const { courseId, learnerId } = await learnerCandidatesOf(
    admin,
    { externalId: '2017.100.101.101-1' },
    { externalId: 'ABC.123' },
  )
  const canvas = await connect(academy, admin, 'canvas')
  const answer = await canvas.deliver(sample('canvas.grade_change'))
  expect(answer).toMatchObject({
    status: 200,
    body: {
      status: 'applied',
      deliveryId: expect.stringMatching(/^whd_/),
      grade: { learnerId, courseId, source: 'canvas', scoreGiven: 5, scoreMaximum: 1, percent: 500 },
      progress: null,
    },
  })
  expect(await grades(admin)).toEqual([answer.body.grade])
  expect(answer.body.grade).toMatchObject({
    gradedAt: '2019-11-01T19:11:05.222Z',
    deliveryId: answer.body.deliveryId,
  })
  const { data } = (await admin.get(`/v1/grades/${answer.body.grade.id}/history`)).body
  expect(data).toMatchObject([{ recordedBy: 'webhook:canvas', recordedByEmail: null }])
  expect(await row(admin, courseId)).toMatchObject({ gradePercent: 500, passed: true, lastAccessed: null })
})

test('canvas course_progress and course_completed: progress, and never back', async ({ academy, admin }) => {
  const { courseId } = await learnerCandidatesOf(
    admin,
    { externalId: '2017.102.102.102-2' },
    { email: 'User@domain.tld' },
  )
  const canvas = await connect(academy, admin, 'canvas')
  const first = await canvas.deliver(sample('canvas.course_progress'))
  expect(first.body).toMatchObject({
    status: 'applied',
    grade: null,
    progress: { completionPercentage: 82.1138, lastAccessed: '2019-11-01T19:11:13.590Z' },
  })
  const done = sample('canvas.course_completed', {
    'body.course.sis_source_id': '2017.102.102.102-2',
    'body.user.email': 'user@domain.tld',
  })
  expect((await canvas.deliver(done)).body).toMatchObject({ progress: { completionPercentage: 100 } })
  const late = sample('canvas.course_progress', { 'body.progress.requirement_completed_count': 5 })
  expect((await canvas.deliver(late)).body).toMatchObject({ status: 'stale' })
  expect(await row(admin, courseId)).toMatchObject({ completionPercentage: 100, progressStatus: 'completed' })
})

test('moodle user_graded: by mapping, with the maximum of the integration; no grade is cleared', async ({
  academy,
  admin,
}) => {
  const { courseId, learnerId } = await learnerCandidatesOf(admin, {}, {})
  const gradeItems = { '12': { name: 'Essay', maximum: 170, weight: 40 } }
  const moodle = await connect(academy, admin, 'moodle', { gradeItems })
  await moodle.map('course', '4', courseId)
  await moodle.map('user', '15', learnerId)
  const name = 'moodle_local_webhooks.user_graded.composed'
  expect((await moodle.deliver(sample(name))).body).toMatchObject({
    status: 'applied',
    grade: { itemId: '12', label: 'Essay', scoreGiven: 85, scoreMaximum: 170, percent: 50, weight: 40 },
  })
  const cleared = await moodle.deliver(sample(name, { 'other.finalgrade': null, timecreated: 1751365201 }))
  expect(cleared.body).toMatchObject({ status: 'applied', grade: { scoreGiven: null, percent: null } })
  const late = await moodle.deliver(sample(name, { 'other.finalgrade': '99.00000' }))
  expect(late.body).toMatchObject({ status: 'stale' })
  expect(await row(admin, courseId)).toMatchObject({ gradePercent: null })
})

test('openedx: the grade of a course as a fraction, at a time without a zone', async ({ academy, admin }) => {
  const { courseId, learnerId } = await learnerCandidatesOf(
    admin,
    { externalId: 'course-v1:edX+100+2021' },
    {},
  )
  const openedx = await connect(academy, admin, 'openedx')
  await openedx.map('user', '42', learnerId)
  expect((await openedx.deliver(sample('openedx_webhooks_plugin.grade.composed'))).body).toMatchObject({
    status: 'applied',
    grade: { itemId: '$course', scoreGiven: 80, percent: 80, gradedAt: '2021-09-21T15:36:31.311Z' },
  })
  expect(await row(admin, courseId)).toMatchObject({ gradePercent: 80, passed: true })
  expect(JSON.stringify(academy.logged)).not.toContain('token')
})

test('thinkific enrollment.progress: a percentage that is a text', async ({ academy, admin }) => {
  const { courseId, learnerId } = await learnerCandidatesOf(admin, {}, {})
  const thinkific = await connect(academy, admin, 'thinkific')
  await thinkific.map('course', '25', courseId)
  await thinkific.map('user', '95', learnerId)
  expect((await thinkific.deliver(sample('thinkific.enrollment.progress'))).body).toMatchObject({
    status: 'applied',
    progress: { completionPercentage: 24, lastAccessed: '2014-02-01T00:20:04.019Z' },
  })
})

test('standard grade.updated: references as the API takes them; one that is pending is not published', async ({
  academy,
  admin,
}) => {
  const { courseId } = await learnerCandidatesOf(
    admin,
    { externalId: 'BIO-101' },
    { email: 'ada@example.org' },
  )
  const standard = await connect(academy, admin, 'standard')
  const name = 'standard.grade_updated.composed'
  const pending = sample(name, { 'data.gradingProgress': 'Pending' })
  expect((await standard.deliver(pending, 'msg_1')).body).toMatchObject({ grade: { published: false } })
  expect(await row(admin, courseId)).toMatchObject({ gradePercent: null })
  const answer = await standard.deliver(sample(name), 'msg_2')
  expect(answer.body).toMatchObject({
    grade: { itemId: 'quiz-1', label: 'Quiz 1', published: true, version: 2 },
  })
  expect(await row(admin, courseId)).toMatchObject({ gradePercent: 83, passed: true })
})

test('a repeated delivery is a duplicate, whatever its signature', async ({ academy, admin }) => {
  await learnerCandidatesOf(admin, { externalId: 'BIO-101' }, { email: 'ada@example.org' })
  const standard = await connect(academy, admin, 'standard')
  const payload = sample('standard.grade_updated.composed')
  const { deliveryId } = (await standard.deliver(payload)).body
  academy.clock.advance(1000)
  expect(await standard.deliver(payload)).toMatchObject({
    status: 200,
    body: { status: 'duplicate', deliveryId },
  })
  expect(await deliveries(admin)).toHaveLength(1)
})

test('a delivery without a match waits, and is applied after a mapping and a replay', async ({
  academy,
  admin,
}) => {
  const moodle = await connect(academy, admin, 'moodle')
  const name = 'moodle_local_webhooks.user_graded.composed'
  const answer = await moodle.deliver(sample(name))
  expect(answer).toMatchObject({ status: 202, body: { status: 'unmatched', missing: ['course', 'learner'] } })
  const path = `/v1/webhooks/deliveries/${answer.body.deliveryId}`
  const { courseId, learnerId } = await learnerCandidatesOf(admin, {}, {})
  await moodle.map('course', '4', courseId)
  expect((await admin.post(`${path}/replay`)).body).toMatchObject({
    status: 'unmatched',
    missing: ['learner'],
  })
  await moodle.map('user', '15', learnerId)
  const replayed = (await admin.post(`${path}/replay`)).body
  expect(replayed).toMatchObject({ status: 'applied', learnerId, courseId, replays: 2, missing: [] })
  expect((await admin.post(`${path}/replay`)).body).toEqual(replayed)
  expect(await grades(admin)).toMatchObject([{ percent: 85, deliveryId: replayed.id, version: 1 }])
  expect((await admin.get(path)).body).toMatchObject({ body: expect.stringContaining('finalgrade') })
  expect((await admin.get('/v1/audit?noun=delivery')).body.data).toMatchObject([
    {
      userId: admin.id,
      subjectId: replayed.id,
      before: { status: 'unmatched' },
      after: { status: 'applied' },
    },
  ])
})

test('a learner who is suspended or not enrolled is reported as missing', async ({ academy, admin }) => {
  const { courseId, learnerId } = await learnerCandidatesOf(
    admin,
    { externalId: 'BIO-101' },
    { email: 'ada@example.org' },
  )
  const standard = await connect(academy, admin, 'standard')
  const payload = sample('standard.grade_updated.composed')
  const [{ id: enrolment }] = (await admin.get(`/v1/enrollments?course_id=${courseId}`)).body.data
  await admin.put(`/v1/enrollments/${enrolment}`, { status: 'inactive' })
  expect((await standard.deliver(payload, 'msg_1')).body).toMatchObject({ missing: ['enrollment'] })
  await admin.put(`/v1/enrollments/${enrolment}`, { status: 'active' })
  await admin.put(`/v1/users/${learnerId}`, { status: 'suspended' })
  expect((await standard.deliver(payload, 'msg_2')).body).toMatchObject({ missing: ['learner'] })
  await admin.put(`/v1/users/${learnerId}`, { status: 'active' })

  const all = await admin.post('/v1/webhooks/deliveries/replay', { limit: 1 })
  expect(all.body).toMatchObject({ data: [{ status: 'applied' }], nextCursor: expect.any(String) })
  const rest = await admin.post('/v1/webhooks/deliveries/replay', { cursor: all.body.nextCursor })
  expect(rest.body).toMatchObject({ data: [{ status: 'applied' }], nextCursor: null })
  expect(await grades(admin)).toMatchObject([{ version: 1 }])
})

test('an archived course accepts nothing, and the outcome says so', async ({ academy, admin }) => {
  const { courseId } = await learnerCandidatesOf(
    admin,
    { externalId: 'BIO-101' },
    { email: 'ada@example.org' },
  )
  const standard = await connect(academy, admin, 'standard')
  await admin.put(`/v1/courses/${courseId}`, { status: 'archived' })
  expect(await standard.deliver(sample('standard.grade_updated.composed'))).toMatchObject({
    status: 202,
    body: { status: 'failed', reason: 'course_archived' },
  })
  expect(await grades(admin)).toEqual([])
})

test('an event about something else is kept without its payload', async ({ academy, admin }) => {
  const canvas = await connect(academy, admin, 'canvas')
  const other = sample('canvas.grade_change', { 'metadata.event_name': 'logged_in' })
  const answer = await canvas.deliver(other)
  expect(answer).toMatchObject({ status: 200, body: { status: 'ignored', reason: 'event_type' } })
  expect((await admin.get(`/v1/webhooks/deliveries/${answer.body.deliveryId}`)).body).toMatchObject({
    event: 'logged_in',
    body: null,
  })
})

test('a passed course is completed, or the grade is the percentage, where the integration says so', {
  tags: ['slow'],
}, async ({ academy, admin }) => {
  const { courseId } = await learnerCandidatesOf(
    admin,
    { externalId: 'BIO-101' },
    { email: 'ada@example.org' },
  )
  const graded = async (
    academy: TestAcademy,
    gradeToProgress: string,
    scoreGiven: number | null,
    id: string,
  ) => {
    const standard = await connect(academy, admin, 'standard', { gradeToProgress })
    academy.clock.advance(1000)
    const timestamp = academy.clock.now().toISOString()
    const changes = { 'data.scoreGiven': scoreGiven, 'data.timestamp': timestamp }
    return (await standard.deliver(sample('standard.grade_updated.composed', changes), id)).body.progress
  }
  expect(await graded(academy, 'none', 99, 'msg_1')).toBeNull()
  expect(await graded(academy, 'percent', 33.33333, 'msg_2')).toMatchObject({
    completionPercentage: 33.3333,
    lastAccessed: '2010-01-01T00:00:00.000Z',
  })
  expect(await graded(academy, 'percent', 120, 'msg_3')).toMatchObject({ completionPercentage: 100 })
  expect(await graded(academy, 'percent', null, 'msg_4')).toMatchObject({ completionPercentage: 0 })
  expect(await graded(academy, 'completed_on_pass', 69, 'msg_5')).toBeNull()
  expect(await graded(academy, 'completed_on_pass', 70, 'msg_6')).toMatchObject({ status: 'completed' })
  expect(await graded(academy, 'completed_on_pass', 10, 'msg_7')).toBeNull()
  expect(await row(admin, courseId)).toMatchObject({ completionPercentage: 100, gradePercent: 10 })
})
