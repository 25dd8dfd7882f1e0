import sql, { type Sql } from 'sql-template-tag'
import { expect } from 'vitest'
import { readRowsPage } from '../../../src/server/analytics/learner-pages.ts'
import { byUser } from '../../../src/server/analytics/rows.ts'
import type { Row } from '../../../src/server/database/database.ts'
import { onPostgres, type Person, start, type TestAcademy, test } from '../../helpers/academy.ts'
import { watchDatabase } from '../../helpers/plans/watched-database.ts'

const path = '/v1/analytics/learners'

test('there is one row per learner and course, with all that is known', async ({ academy, admin }) => {
  const course = (
    await admin.post('/v1/courses', {
      title: 'Logic',
      externalId: 'LOG-1',
      difficulty: 'expert',
      status: 'published',
      assessmentCriteria: { passingScore: 60 },
    })
  ).body
  const profile = { firstName: 'Ada', lastName: 'Lovelace' }
  const user = (await admin.post('/v1/users', { email: 'ada@b.example', externalId: 'S1', profile })).body
  await admin.put(`/v1/learners/${user.id}/progress`, { courseId: course.id, completionPercentage: 100 })
  await academy.grade({ learnerId: user.id, courseId: course.id, scoreGiven: 81.25 })
  expect((await admin.get(path)).body.data).toEqual([
    {
      learnerId: user.id,
      email: 'ada@b.example',
      firstName: 'Ada',
      lastName: 'Lovelace',
      externalId: 'S1',
      courseId: course.id,
      courseTitle: 'Logic',
      difficulty: 'expert',
      enrollmentStatus: 'completed',
      enrolledAt: start,
      progressStatus: 'completed',
      completionPercentage: 100,
      startedAt: start,
      lastAccessed: start,
      completedAt: start,
      gradePercent: 81.25,
      passed: true,
      gradeUpdatedAt: start,
      courseExternalId: 'LOG-1',
    },
  ])
})

test('the enrolled who never started have nothing but that', async ({ admin, learner }) => {
  const courseId = (await admin.post('/v1/courses', { title: 'Logic' })).body.id
  await admin.post('/v1/enrollments', { courseId, userId: learner.id })
  expect((await admin.get(path)).body.data).toMatchObject([
    {
      enrollmentStatus: 'active',
      progressStatus: 'not_started',
      completionPercentage: 0,
      startedAt: null,
      lastAccessed: null,
      completedAt: null,
      gradePercent: null,
      passed: null,
      gradeUpdatedAt: null,
      courseExternalId: null,
    },
  ])
})

test('the learners of a course are in the order of their addresses, whatever becomes of these', {
  tags: ['slow'],
}, async ({ admin }) => {
  const courseId = (await admin.post('/v1/courses', { title: 'Logic' })).body.id
  for (const name of ['ada', 'bob', 'cyd']) {
    const userId = (await admin.post('/v1/users', { email: `${name}@b.example` })).body.id
    await admin.post('/v1/enrollments', { courseId, userId })
  }
  const emails = async () => {
    const first = (await admin.get(`${path}?course_id=${courseId}&limit=2`)).body
    const rest = (await admin.get(`${path}?course_id=${courseId}&limit=2&cursor=${first.nextCursor}`)).body
    return [...first.data, ...rest.data].map(({ email }) => email)
  }
  expect(await emails()).toEqual(['ada@b.example', 'bob@b.example', 'cyd@b.example'])
  await admin.put('/v1/users/email:ada@b.example', { email: 'zoe@b.example' })
  expect(await emails()).toEqual(['bob@b.example', 'cyd@b.example', 'zoe@b.example'])
  await admin.delete(`/v1/courses/${courseId}?force=true`)
  await admin.put('/v1/users/email:cyd@b.example', { email: 'ann@b.example' })
  await admin.post(`/v1/deleted-courses/${courseId}/restore`)
  expect(await emails()).toEqual(['ann@b.example', 'bob@b.example', 'zoe@b.example'])
})

test('enrolments that were removed are left out of rows, files and figures, unless their status is asked for', {
  tags: ['slow'],
}, async ({ academy, admin }) => {
  await school(academy, admin)
  const [{ id }] = (await admin.get('/v1/enrollments?user_id=email:bob@b.example&course_id=ext:L')).body.data
  const emails = async (query = '') => {
    const { data, summary, total } = (await admin.get(`${path}?include_total=true${query}`)).body
    const csv = (await admin.get(`${path}?format=csv${query}`)).text.split('\r\n').slice(1, -1)
    const all = data.map(({ email, courseTitle }: Record<string, string>) => `${email} ${courseTitle}`)
    expect(csv).toHaveLength(all.length)
    expect([summary.enrollments, total]).toEqual([all.length, all.length])
    expect(
      summary.byCourse.reduce((sum: number, one: { enrollments: number }) => sum + one.enrollments, 0),
    ).toBe(all.length)
    return all
  }
  const before = await emails()
  expect(before).toContain('bob@b.example Logic')
  await admin.delete(`/v1/enrollments/${id}`)
  expect(await emails()).toEqual(before.filter((row: string) => row !== 'bob@b.example Logic'))
  expect(await emails('&course_id=ext:L')).not.toContain('bob@b.example Logic')
  expect(await emails('&learner_id=email:bob@b.example&course_id=ext:L')).toEqual([])
  for (const more of ['', '&course_id=ext:L', '&start_date=2020-01-01', '&learner_id=email:bob@b.example']) {
    expect(await emails(`&enrollment_status=deleted${more}`)).toEqual(['bob@b.example Logic'])
  }
  expect(await emails('&enrollment_status=inactive')).toEqual([])
  expect((await emails('&enrollment_status=active,inactive,completed,deleted')).toSorted()).toEqual(
    before.toSorted(),
  )
  expect((await admin.get(`${path}?enrollment_status=gone`)).status).toBe(400)
  await admin.put(`/v1/enrollments/${id}`, { status: 'active' })
  expect(await emails()).toEqual(before)
})

/** Makes three learners in two courses, at five stages. */
async function school(academy: TestAcademy, admin: Person): Promise<void> {
  const make = async (kind: string, body: object) => (await admin.post(`/v1/${kind}`, body)).body.id
  const logic = await make('courses', { title: 'Logic', externalId: 'L' })
  const rhetoric = await make('courses', { title: 'Rhetoric', difficulty: 'expert' })
  const [ada, bob, eve] = [
    await make('users', { email: 'ada@b.example' }),
    await make('users', { email: 'bob@b.example' }),
    await make('users', { email: 'eve@b.example' }),
  ]
  const set = (learner: string, courseId: string, completionPercentage: number) =>
    admin.put(`/v1/learners/${learner}/progress`, { courseId, completionPercentage })
  await set(ada, logic, 100)
  await set(bob, logic, 9.99)
  await set(eve, logic, 50)
  await set(ada, rhetoric, 90)
  await make('enrollments', { courseId: rhetoric, userId: bob })
  await make('enrollments', { courseId: rhetoric, userId: eve, role: 'instructor' })
  await academy.grade({ learnerId: ada, courseId: logic, scoreGiven: 90 })
  await academy.grade({ learnerId: bob, courseId: logic, scoreGiven: 45 })
}

const rows = ({ body }: { body: { data: { email: string; courseTitle: string }[] } }) =>
  body.data.map(({ email, courseTitle }) => `${email.split('@')[0]} ${courseTitle}`)

test('rows are in the order of address and title, and filters pick among them', async ({
  academy,
  admin,
}) => {
  await school(academy, admin)
  const found = async (query: string) => rows(await admin.get(`${path}?${query}`))
  expect(await found('')).toEqual(['ada Logic', 'ada Rhetoric', 'bob Logic', 'bob Rhetoric', 'eve Logic'])
  expect(await found('course_id=ext:L')).toEqual(['ada Logic', 'bob Logic', 'eve Logic'])
  expect(await found('learner_id=email:ADA@b.example')).toEqual(['ada Logic', 'ada Rhetoric'])
  expect(await found('status=completed,not_started')).toEqual(['ada Logic', 'bob Rhetoric'])
  expect(await found('difficulty=expert&status=in_progress')).toEqual(['ada Rhetoric'])
  expect((await admin.get(`${path}?course_id=ext:M`)).status).toBe(404)
})

test('courses and learners may be lists, each a reference', async ({ academy, admin }) => {
  await school(academy, admin)
  const other = { title: 'Rhetoric, applied', externalId: 'R,L' }
  const { id } = (await admin.post('/v1/courses', other)).body
  await admin.post('/v1/enrollments', { courseId: id, userId: 'email:eve@b.example' })
  const found = async (query: string) => rows(await admin.get(`${path}?${query}`))
  const both = ['ada Logic', 'bob Logic', 'eve Logic', 'eve Rhetoric, applied']
  expect(await found(`course_id=ext:L,${id}`)).toEqual(both)
  expect(await found(`course_id=ext:L, ext:R\\,L,${id}`)).toEqual(both)
  expect(await found('course_id=ext:R,L')).toEqual(['eve Rhetoric, applied'])
  expect(await found('learner_id=email:eve@b.example,email:bob@b.example&course_id=ext:L')).toEqual([
    'bob Logic',
    'eve Logic',
  ])
})

// Only for plans of SQLite.
test.skipIf(onPostgres)(
  'rows of some courses and learners are searched by index, and not sorted as a whole',
  async ({ academy: { database } }) => {
    const planOf = async (condition: Sql) => {
      const statements: Sql[] = []
      const watching = watchDatabase(database, { seen: (statement) => void statements.push(statement) })
      await readRowsPage(watching, { limit: 20 }, { tables: byUser, conditions: [condition] })
      const plan = await database.all<Row & { detail: string }>(sql`explain query plan ${statements[0]}`)
      return plan.map(({ detail }) => detail)
    }
    const ofCourses = await planOf(sql`e.course_id in (${'crs_1'}, ${'crs_2'})`)
    expect(ofCourses).toContain('SEARCH u USING INDEX users_by_email (email>?)')
    expect(ofCourses).not.toContain('USE TEMP B-TREE FOR ORDER BY')
    expect(ofCourses).toContainEqual(expect.stringMatching(/^SEARCH e .*\(user_id=\? AND course_id=\?/))
    const ofLearners = await planOf(sql`u.id in (${'usr_1'}, ${'usr_2'})`)
    expect(ofLearners).toContainEqual(expect.stringMatching(/^SEARCH u .*\(id=\?\)/))
  },
)

test('deleted users are left out, unless asked for; removed enrolments are shown as such when asked for', async ({
  academy,
  admin,
}) => {
  await school(academy, admin)
  await admin.delete('/v1/users/email:ada@b.example')
  const [{ id }] = (await admin.get('/v1/enrollments?user_id=email:eve@b.example&role=learner')).body.data
  await admin.delete(`/v1/enrollments/${id}`)
  expect(rows(await admin.get(path))).toEqual(['bob Logic', 'bob Rhetoric'])
  const all = await admin.get(
    `${path}?include_deleted=true&enrollment_status=active,inactive,completed,deleted`,
  )
  expect(rows(all)).toHaveLength(5)
  expect(all.body.data[4]).toMatchObject({ email: 'eve@b.example', enrollmentStatus: 'deleted' })
})

test('the summary is over all that is filtered, not over the page', async ({ academy, admin }) => {
  await school(academy, admin)
  const { summary } = (await admin.get(`${path}?limit=1`)).body
  const { byCourse, ...whole } = summary
  expect(whole).toEqual({
    learners: 3,
    enrollments: 5,
    notStarted: 1,
    inProgress: 3,
    completed: 1,
    completionRate: 0.2,
    averageCompletionPercentage: 49.998,
    medianCompletionPercentage: 50,
    averageGradePercent: 67.5,
    completionPercentage: 20,
    graded: 2,
    passed: 1,
    passRate: 50,
    medianGradePercent: 67.5,
    distribution: [2, 0, 0, 0, 0, 1, 0, 0, 0, 2],
    completionDistribution: bucketsOf([2, 0, 0, 0, 0, 1, 0, 0, 0, 2]),
    gradeDistribution: bucketsOf([0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0]),
  })
  expect(byCourse).toEqual([
    {
      courseId: expect.any(String),
      courseTitle: 'Logic',
      enrollments: 3,
      notStarted: 0,
      inProgress: 2,
      completed: 1,
      completionRate: 0.3333,
      averageCompletionPercentage: 53.33,
      averageGradePercent: 67.5,
      completionPercentage: 33.3333,
      graded: 2,
      passed: 1,
      passRate: 50,
    },
    expect.objectContaining({
      courseTitle: 'Rhetoric',
      enrollments: 2,
      notStarted: 1,
      completionRate: 0,
      averageCompletionPercentage: 45,
      averageGradePercent: null,
      graded: 0,
      passRate: null,
    }),
  ])
  const expert = (await admin.get(`${path}?difficulty=expert`)).body.summary
  expect(expert).toMatchObject({ learners: 2, enrollments: 2, medianCompletionPercentage: 45 })
})

/** Returns buckets of tens of a per cent; the eleventh is above 100. */
function bucketsOf(counts: readonly number[]) {
  return counts.map((count, tenth) => ({
    from: 10 * tenth,
    to: tenth === 10 ? null : 10 * tenth + 10,
    count,
  }))
}

test('grades are summarised as SQL on their rows does, at and beside the bounds of ranges', {
  tags: ['slow'],
}, async ({ academy, admin }) => {
  const { database } = academy
  const course = { title: 'Logic', externalId: 'c', assessmentCriteria: { passingScore: 60 } }
  const courseId = (await admin.post('/v1/courses', course)).body.id
  const scores = [0, 9.994, 10, 59.99, 60, 60, 69.9999, 90, 99.9999, 100, 100.004, 250]
  const emailOf = (index: number) => `p${index}@b.example`
  await admin.post('/v1/users/batch', { items: scores.map((_, index) => ({ email: emailOf(index) })) })
  const learners = scores.map((_, index) => ({ courseId, userId: `email:${emailOf(index)}` }))
  await admin.post('/v1/enrollments/batch', { items: learners })
  for (const [index, scoreGiven] of scores.entries()) {
    await academy.grade({ learnerId: `email:${emailOf(index)}`, courseId, scoreGiven })
  }
  const sqlSummary = async () => {
    const one = async (text: Sql) =>
      Object.values((await database.one<Row>(sql`select ${text} from course_grades`)) ?? {}).map(Number)
    const [passing = 0] = await one(sql`(select cast(attributes -> 'assessmentCriteria' ->> 'passingScore' as
      double precision) from courses)`)
    const [passed = 0] = await one(sql`sum(case when percent >= ${passing} then 1 else 0 end)`)
    const tenths = Array.from({ length: 11 }, (_, tenth) => {
      const end = tenth < 9 ? sql`percent < ${10 * tenth + 10}` : sql`percent <= 100`
      const range = tenth === 10 ? sql`percent > 100` : sql`percent >= ${10 * tenth} and ${end}`
      return sql`sum(case when ${range} then 1 else 0 end)`
    })
    const [middle] = await database.all<Row>(sql`
      select avg(percent) as median from (
        select percent, row_number() over (order by percent) as place, count(*) over () as whole from course_grades) g
      where place in ((whole + 1) / 2, (whole + 2) / 2)`)
    const counts = []
    for (const tenth of tenths) counts.push(...(await one(tenth)))
    return {
      passed,
      passRate: Math.round((1e6 * passed) / scores.length) / 1e4,
      medianGradePercent: Math.round(1e4 * Number(middle?.['median'])) / 1e4,
      gradeDistribution: bucketsOf(counts),
    }
  }
  const summaryOf = async (filter: string) => (await admin.get(`${path}?limit=1&${filter}`)).body.summary
  // All rows, rows of learners, and rows of a status.
  for (const filter of [
    '',
    `learner_id=${learners.map(({ userId }) => userId)}`,
    'enrollment_status=active',
  ]) {
    expect(await summaryOf(filter), filter).toMatchObject({ graded: scores.length, ...(await sqlSummary()) })
  }
  for (const passingScore of [60.005, 0, 100, 99.9999]) {
    await admin.put('/v1/courses/ext:c', { assessmentCriteria: { passingScore } })
    expect(await summaryOf(''), `${passingScore}`).toMatchObject(await sqlSummary())
  }
})

test('averages of nothing are null', async ({ admin }) => {
  expect((await admin.get(path)).body).toEqual({
    data: [],
    nextCursor: null,
    period: { start: null, end: null },
    summary: {
      learners: 0,
      enrollments: 0,
      notStarted: 0,
      inProgress: 0,
      completed: 0,
      completionRate: null,
      averageCompletionPercentage: null,
      medianCompletionPercentage: null,
      averageGradePercent: null,
      completionPercentage: null,
      graded: 0,
      passed: 0,
      passRate: null,
      medianGradePercent: null,
      distribution: Array(10).fill(0),
      completionDistribution: bucketsOf(Array(10).fill(0)),
      gradeDistribution: bucketsOf(Array(11).fill(0)),
      byCourse: [],
    },
  })
})

test('period and summary are on the first page only, and the summary may be left out', async ({
  academy,
  admin,
}) => {
  await school(academy, admin)
  const seen: string[] = []
  const first = await admin.get(`${path}?limit=2&include_total=true`)
  expect(Object.keys(first.body).sort()).toEqual([
    'data',
    'nextCursor',
    'period',
    'summary',
    'total',
    'totalIsExact',
  ])
  seen.push(...rows(first))
  let next = first
  while (next.body.nextCursor !== null) {
    next = await admin.get(`${path}?limit=2&cursor=${next.body.nextCursor}`)
    expect(Object.keys(next.body).sort()).toEqual(['data', 'nextCursor'])
    seen.push(...rows(next))
  }
  expect(seen).toEqual(rows(await admin.get(path)))
  expect((await admin.get(`${path}?summary=false`)).body).not.toHaveProperty('summary')
})
