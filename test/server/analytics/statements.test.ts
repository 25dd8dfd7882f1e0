import { expect } from 'vitest'
import type { Statement } from '../../../src/contract/statements.ts'
import { type Person, start, type TestAcademy, test } from '../../helpers/academy.ts'
import { readPages } from '../../helpers/pages.ts'

const path = '/v1/analytics/statements'

interface School {
  readonly courseId: string
  readonly userIds: readonly string[]
}

async function fill(academy: TestAcademy, admin: Person, learners = 2): Promise<School> {
  const course = { title: 'Logic', externalId: 'LOG', status: 'published', language: 'en' }
  const criteria = { assessmentCriteria: { passingScore: 60 } }
  const { id: courseId } = (await admin.post('/v1/courses', { ...course, ...criteria })).body
  const userIds: string[] = []
  for (let index = 0; index < learners; index += 1) {
    const user = (await admin.post('/v1/users', { email: `l${index}@b.example`, externalId: `S-${index}` }))
      .body
    userIds.push(user.id)
    for (const completionPercentage of [0, 40.5, 100]) {
      academy.clock.advance(1000)
      await admin.put(`/v1/learners/${user.id}/progress`, { courseId, completionPercentage })
    }
    await academy.grade({ learnerId: user.id, courseId, itemId: 'quiz', scoreGiven: 8, scoreMaximum: 10 })
  }
  return { courseId, userIds }
}

const verbsOf = (statements: readonly Statement[]) => statements.map(({ verb }) => verb.display['en'])

const allOf = (person: Person, limit: number, query = '') =>
  readPages<Statement>(person, `${path}${query}`, limit)

test('history becomes statements, enrolment by enrolment', async ({ academy, admin }) => {
  const { userIds } = await fill(academy, admin)
  const { data, nextCursor } = (await admin.get(`${path}?limit=100`)).body
  const each = ['initialized', 'progressed', 'progressed', 'completed', 'scored', 'passed']
  expect(verbsOf(data)).toEqual([...each, ...each])
  expect(nextCursor).toBeNull()
  expect(data.map(({ actor }: Statement) => actor.account?.name)).toEqual([
    ...each.map(() => userIds[0]),
    ...each.map(() => userIds[1]),
  ])
  expect(data[0].timestamp).toBe(new Date(Date.parse(start) + 1000).toISOString())
  expect(JSON.stringify(data)).not.toContain('b.example')
})

test('pages of any size have the same statements, each once', { tags: ['slow'] }, async ({
  academy,
  admin,
}) => {
  await fill(academy, admin, 3)
  const whole = await allOf(admin, 100)
  expect(new Set(whole.map(({ id }) => id)).size).toBe(18)
  for (const limit of [1, 2, 3, 5, 7, 17]) expect(await allOf(admin, limit)).toEqual(whole)
})

test('a page is continued exactly, whatever is recorded meanwhile', async ({ academy, admin }) => {
  const { courseId, userIds } = await fill(academy, admin)
  const late = (await admin.post('/v1/users', { email: 'late@b.example' })).body.id
  await admin.post('/v1/enrollments', { courseId, userId: late })
  const before = await allOf(admin, 100)
  const first = (await admin.get(`${path}?limit=2`)).body
  await academy.grade({
    learnerId: userIds[0] ?? '',
    courseId,
    itemId: 'exam',
    scoreGiven: 1,
    scoreMaximum: 10,
  })
  const learnerId = userIds[0] ?? ''
  academy.clock.advance(1000)
  await admin.put(`/v1/learners/${learnerId}/progress`, { courseId, completionPercentage: 90 })
  const rest: Statement[] = []
  for (let { nextCursor: cursor } = first; cursor !== null; ) {
    const { body } = await admin.get(`${path}?limit=2&cursor=${cursor}`)
    rest.push(...body.data)
    cursor = body.nextCursor
  }
  const all = [...first.data, ...rest]
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length)
  // The grade of the course is as it is now.
  const kept = before.filter(({ verb }) => verb.display['en'] !== 'passed').map(({ id }) => id)
  expect(all.map(({ id }) => id)).toEqual(expect.arrayContaining(kept))
  expect(verbsOf(all).filter((verb) => verb === 'failed')).toHaveLength(1)
})

test('grades that are cleared or not published make no statement', async ({ academy, admin }) => {
  const { courseId, userIds } = await fill(academy, admin, 1)
  const learnerId = userIds[0] ?? ''
  for (let index = 0; index < 12; index += 1) {
    await academy.grade({ learnerId, courseId, itemId: `hidden-${index}`, scoreGiven: 5, published: false })
  }
  await academy.grade({ learnerId, courseId, itemId: 'quiz', scoreGiven: null })
  const whole = await allOf(admin, 100)
  expect(verbsOf(whole)).toEqual(['initialized', 'progressed', 'progressed', 'completed', 'scored'])
  for (const limit of [1, 3]) expect(await allOf(admin, limit)).toEqual(whole)
})

test('a period is that of the events, and filters select courses and learners', async ({
  academy,
  admin,
}) => {
  const { userIds } = await fill(academy, admin)
  const time = (seconds: number) => new Date(Date.parse(start) + seconds * 1000).toISOString()
  const during = await allOf(admin, 100, `?start_date=${time(2)}&end_date=${time(3)}`)
  expect(verbsOf(during)).toEqual(['progressed'])
  const own = await allOf(admin, 3, `?course_id=ext:LOG&learner_id=${userIds[1]}`)
  expect(own).toHaveLength(6)
  expect((await admin.get(`${path}?course_id=ext:none`)).status).toBe(404)
  expect((await admin.get(`${path}?start_date=2026-02-01&end_date=2026-01-01`)).status).toBe(400)
})

test('removed enrolments and deleted users are left out', async ({ academy, admin }) => {
  const { userIds } = await fill(academy, admin, 3)
  await admin.delete(`/v1/users/${userIds[0]}`)
  const [enrollment] = (await admin.get(`/v1/enrollments?user_id=${userIds[1]}`)).body.data
  await admin.delete(`/v1/enrollments/${enrollment.id}`)
  const names = (await allOf(admin, 4)).map(({ actor }) => actor.account?.name)
  expect(new Set(names)).toEqual(new Set([userIds[2]]))
})

test('an instructor gets those of their courses, an analyst all, a learner none', async ({
  academy,
  admin,
  instructor,
  analyst,
  learner,
}) => {
  const { courseId } = await fill(academy, admin, 1)
  expect(await allOf(instructor, 100)).toEqual([])
  await admin.post('/v1/enrollments', { courseId, userId: instructor.id, role: 'instructor' })
  expect(await allOf(instructor, 100)).toHaveLength(6)
  expect(await allOf(analyst, 100)).toHaveLength(6)
  expect((await learner.get(path)).status).toBe(403)
})

test('a cursor of another list is refused, and one that was changed finds nothing it should not', async ({
  academy,
  admin,
}) => {
  await fill(academy, admin, 1)
  const { nextCursor } = (await admin.get('/v1/users?limit=1')).body
  expect((await admin.get(`${path}?cursor=${nextCursor}`)).body.code).toBe('invalid_cursor')
  const odd = (...values: readonly unknown[]) =>
    Buffer.from(JSON.stringify(['history', ...values])).toString('base64url')
  for (const cursor of [odd(1, 2, 3, 4, 5), odd('', '', '', '', ''), odd('', '', '', 0.5, 0), odd('a')]) {
    expect((await admin.get(`${path}?cursor=${cursor}`)).body.code).toBe('invalid_cursor')
  }
  expect((await admin.get(`${path}?cursor=${odd('zzz', 'enr_', '~', 9, 9)}`)).body.data).toEqual([])
})
