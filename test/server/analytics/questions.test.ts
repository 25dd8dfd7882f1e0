import fc from 'fast-check'
import sql, { raw } from 'sql-template-tag'
import { expect } from 'vitest'
import type { ActivityPeriod, AtRiskRow, ItemGrades } from '../../../src/contract/questions.ts'
import { readAcademyStanding } from '../../../src/server/analytics/summary.ts'
import type { Row } from '../../../src/server/database/database.ts'
import { day, openTestAcademy, type Person, start, type TestAcademy, test } from '../../helpers/academy.ts'
import { randomRuns } from '../../helpers/random.ts'

const ago = (days: number) => new Date(Date.parse(start) - days * day).toISOString()

/** An entry of a random history: something happens to a learner in a course. */
const anyEntry = fc.record({
  learner: fc.integer({ min: 0, max: 3 }),
  course: fc.integer({ min: 0, max: 2 }),
  what: fc.oneof(
    { arbitrary: fc.constantFrom('progress', 'grade'), weight: 10 },
    { arbitrary: fc.constantFrom('regrade', 'hide', 'clear'), weight: 3 },
    { arbitrary: fc.constantFrom('remove', 'pause'), weight: 1 },
  ),
  item: fc.constantFrom('$course', 'exam', 'quiz', 'essay'),
  value: fc.integer({ min: 0, max: 100 }),
  hours: fc.integer({ min: 0, max: 700 }),
})
type Entry = typeof anyEntry extends fc.Arbitrary<infer One> ? One : never

/** Makes an academy with this history, entries in the order in which they happened; refusals change nothing. */
async function makeHistory(admin: Person, history: readonly Entry[]): Promise<void> {
  const ids = async (kind: string, bodies: readonly object[]) => {
    const made: string[] = []
    for (const body of bodies) made.push((await admin.post(`/v1/${kind}`, body)).body.id)
    return made
  }
  const courses = await ids(
    'courses',
    [0, 1, 2].map((index) => ({ title: `Course ${index}`, externalId: `c${index}`, status: 'published' })),
  )
  const learners = await ids(
    'users',
    [0, 1, 2, 3].map((index) => ({ email: `l${index}@b.example`, externalId: `l${index}` })),
  )
  for (const courseId of courses) {
    for (const userId of learners) await admin.post('/v1/enrollments', { courseId, userId })
  }
  for (const entry of history.toSorted((one, other) => other.hours - one.hours)) {
    const [courseId = '', learnerId = ''] = [courses[entry.course], learners[entry.learner]]
    const at = ago(entry.hours / 24)
    const grade = { learnerId, courseId, itemId: entry.item, gradedAt: at }
    const { body: enrolled } = await admin.get(`/v1/enrollments?course_id=${courseId}&user_id=${learnerId}`)
    const enrollment = enrolled.data[0]?.id
    if (entry.what === 'progress') {
      const body = { courseId, completionPercentage: entry.value, lastAccessed: at }
      await admin.put(`/v1/learners/${learnerId}/progress`, body)
    }
    if (entry.what === 'grade') await admin.put('/v1/grades', { ...grade, scoreGiven: entry.value })
    if (entry.what === 'regrade') {
      const { body } = await admin.get(`/v1/grades?course_id=${courseId}&learner_id=${learnerId}`)
      const { itemId, gradedAt } = body.data[0] ?? {}
      if (itemId) await admin.put('/v1/grades', { ...grade, itemId, gradedAt, scoreGiven: entry.value })
    }
    if (entry.what === 'hide') {
      await admin.put('/v1/grades', { ...grade, scoreGiven: entry.value, published: false })
    }
    if (entry.what === 'clear') await admin.put('/v1/grades', { ...grade, scoreGiven: null })
    if (entry.what === 'remove' && enrollment) await admin.delete(`/v1/enrollments/${enrollment}`)
    if (entry.what === 'pause' && enrollment) {
      await admin.put(`/v1/enrollments/${enrollment}`, { status: 'inactive' })
    }
  }
}

/** Conditions of the test's own statements: a row `x` belongs to an enrolment that counts. */
const counts = (alias: string) =>
  raw(`exists (select 1 from enrollments e, users u where e.user_id = ${alias}.user_id and e.course_id = ${alias}.course_id
    and e.role = 'learner' and e.status <> 'deleted' and u.id = e.user_id and u.status <> 'deleted')`)

async function one(academy: TestAcademy, query: ReturnType<typeof sql>): Promise<number> {
  return Number((await academy.database.one<Row & { n: number }>(query))?.n)
}

async function expectActivity(academy: TestAcademy, periods: readonly ActivityPeriod[]): Promise<void> {
  for (const { start: from, end: to, ...figures } of periods) {
    const during = (time: string) => sql`${raw(time)} >= ${from} and ${raw(time)} < ${to}`
    const grades = await academy.database.all<Row & { grade_id: string; graded_at: string }>(sql`
      select distinct s.grade_id, s.graded_at from grade_steps s join grades g on g.id = s.grade_id
      where ${during('s.graded_at')} and s.published = 1 and s.cleared = 0 and ${counts('g')}`)
    expect(figures).toEqual({
      period: figures.period,
      activeLearners: await one(
        academy,
        sql`select count(distinct user_id) as n from progress_steps s where ${during('last_accessed')} and ${counts('s')}`,
      ),
      progressUpdates: await one(
        academy,
        sql`select count(*) as n from progress_steps s where ${during('last_accessed')} and ${counts('s')}`,
      ),
      completions: await one(
        academy,
        sql`select count(*) as n from (
          select user_id, course_id, min(last_accessed) as first from progress_steps s
          where status = 'completed' and ${counts('s')} group by user_id, course_id) f where ${during('f.first')}`,
      ),
      grades: grades.length,
    })
  }
}

async function expectItems(academy: TestAcademy, items: readonly ItemGrades[]): Promise<void> {
  const groups = await academy.database.all<Row & { course_id: string; item_id: string }>(sql`
    select distinct g.course_id, g.item_id, c.title from grades g join courses c on c.id = g.course_id
    where published = 1 and cleared = 0 and ${counts('g')} order by c.title, g.item_id`)
  expect(items.map(({ courseId, itemId }) => [courseId, itemId])).toEqual(
    groups.map(({ course_id: course, item_id: item }) => [course, item]),
  )
  for (const { courseId, itemId, ...figures } of items) {
    const rows = await academy.database.all<Row & { score: number }>(sql`
      select score_given as score from grades g
      where course_id = ${courseId} and item_id = ${itemId} and published = 1 and cleared = 0 and ${counts('g')}
      order by score_given`)
    const scores = rows.map(({ score }) => score)
    // Definition 7 by its words: at position (n - 1) p, linear between the neighbours.
    const quantile = (p: number) => {
      const place = (scores.length - 1) * p
      const [low = 0, high = 0] = [scores[Math.floor(place)], scores[Math.ceil(place)]]
      return low + (high - low) * (place - Math.floor(place))
    }
    const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length
    expect(figures).toMatchObject({
      count: scores.length,
      mean: expect.closeTo(mean, 3),
      median: expect.closeTo(quantile(0.5), 3),
      lowerQuartile: expect.closeTo(quantile(0.25), 3),
      upperQuartile: expect.closeTo(quantile(0.75), 3),
      passRate: expect.closeTo((100 * scores.filter((score) => score >= 70).length) / scores.length, 3),
    })
  }
}

const conditionByReason = {
  inactive: (since: string) =>
    sql`e.status = 'active' and (p.status is null or p.status <> 'completed') and coalesce(p.last_accessed, e.enrolled_at) < ${since}`,
  stuck: (since: string) =>
    sql`e.status = 'active' and p.status = 'in_progress' and p.percentage < 50 and p.risen_at < ${since}`,
  not_passed: () => sql`exists (
    select 1 from course_grades g where g.user_id = e.user_id and g.course_id = e.course_id and g.percent < 70)`,
}

async function expectAtRisk(academy: TestAcademy, rows: readonly AtRiskRow[]): Promise<void> {
  // The clock stands at noon of a day: the first of 14 days began 13 days and 12 hours ago.
  const since = ago(13.5)
  for (const [reason, condition] of Object.entries(conditionByReason)) {
    const expected = await academy.database.all(sql`
      select u.email, e.course_id from enrollments e join users u on u.id = e.user_id
      left join progress p on p.user_id = e.user_id and p.course_id = e.course_id
      where e.role = 'learner' and e.status <> 'deleted' and ${condition(since)} order by u.email, e.course_id`)
    const listed = rows.filter(({ reasons }) => (reasons as readonly string[]).includes(reason))
    expect(listed.map(({ email, courseId }) => `${email} ${courseId}`).sort(), reason).toEqual(
      expected.map(({ email, course_id: id }) => `${email} ${id}`).sort(),
    )
  }
  expect(rows.filter(({ reasons }) => reasons.length === 0)).toEqual([])
}

async function listAll<Item>(person: Person, path: string): Promise<Item[]> {
  const items: Item[] = []
  for (let cursor = ''; ; ) {
    const { status, body, text } = await person.get(`${path}${cursor}`)
    expect(status, text).toBe(200)
    items.push(...body.data)
    if (body.nextCursor === null) return items
    cursor = `&cursor=${body.nextCursor}`
  }
}

test('the answers are those of plain statements, for any history', { tags: ['slow'] }, async () => {
  let found = 0
  await fc.assert(
    fc.asyncProperty(fc.array(anyEntry, { minLength: 40, maxLength: 80 }), async (history) => {
      await using academy = await openTestAcademy()
      const admin = await academy.person('admin')
      await makeHistory(admin, history)
      for (const by of ['day', 'week', 'month']) {
        const { body } = await admin.get(`/v1/analytics/activity?by=${by}&start_date=${ago(40)}`)
        await expectActivity(academy, body.data)
      }
      const items = await listAll<ItemGrades>(admin, '/v1/analytics/grades?limit=2')
      await expectItems(academy, items)
      const rows = await listAll<AtRiskRow>(admin, '/v1/analytics/at-risk?limit=2')
      await expectAtRisk(academy, rows)
      const seer = { database: academy.database, principal: { userId: null, sees: 'all' } } as const
      const { all } = await readAcademyStanding(seer, academy.clock.now())
      const countOf = (reason: string) =>
        rows.filter(({ reasons }) => (reasons as readonly string[]).includes(reason)).length
      expect(all.attention).toEqual({
        inactive: countOf('inactive'),
        stuck: countOf('stuck'),
        not_passed: countOf('not_passed'),
      })
      found += items.length + rows.length
    }),
    { numRuns: randomRuns(1, 8) },
  )
  expect(found).toBeGreaterThan(10)
})

/** Makes a published course with learners, each with progress so many days ago; without a number of days only enrolled. */
async function makeCourse(
  admin: Person,
  externalId: string,
  learners: Readonly<Record<string, readonly [percentage: number, days: number] | null>>,
): Promise<string> {
  const course = { title: externalId, externalId, status: 'published' }
  const { id } = (await admin.post('/v1/courses', course)).body
  for (const [name, progress] of Object.entries(learners)) {
    await admin.post('/v1/users', { email: `${name}@b.example`, externalId: name })
    if (progress === null) await admin.post('/v1/enrollments', { courseId: id, userId: `ext:${name}` })
    else {
      const [completionPercentage, days] = progress
      const body = { courseId: id, completionPercentage, lastAccessed: ago(days) }
      await admin.put(`/v1/learners/ext:${name}/progress`, body)
    }
  }
  return id
}

const reasonsIn = ({ body }: { body: { data: AtRiskRow[] } }) =>
  Object.fromEntries(body.data.map(({ email, reasons }) => [email.split('@')[0], reasons.join(' ')]))

test('a learner who was enrolled today is not inactive, nor one who completed the course long ago', async ({
  admin,
  clock,
}) => {
  await makeCourse(admin, 'Logic', { new: null, done: [100, 60], idle: [80, 14] })
  expect(reasonsIn(await admin.get('/v1/analytics/at-risk'))).toEqual({ idle: 'inactive' })
  clock.advance(13 * day)
  expect(reasonsIn(await admin.get('/v1/analytics/at-risk'))).toEqual({ idle: 'inactive' })
  clock.advance(day)
  expect(reasonsIn(await admin.get('/v1/analytics/at-risk'))).toEqual({ idle: 'inactive', new: 'inactive' })
})

test('limits move what is inactive and what is stuck, each its own', { tags: ['slow'] }, async ({
  admin,
}) => {
  await makeCourse(admin, 'Logic', { a: [30, 20], b: [60, 20], c: [30, 8], d: [10, 1] })
  const ask = async (query: string) => reasonsIn(await admin.get(`/v1/analytics/at-risk?${query}`))
  expect(await ask('')).toEqual({ a: 'inactive stuck', b: 'inactive' })
  expect(await ask('stuck_below=61')).toEqual({ a: 'inactive stuck', b: 'inactive stuck' })
  expect(await ask('inactive_days=7')).toEqual({ a: 'inactive stuck', b: 'inactive', c: 'inactive' })
  expect(await ask('stuck_days=8')).toEqual({ a: 'inactive stuck', b: 'inactive', c: 'stuck' })
  expect(await ask('reason=stuck')).toEqual({ a: 'inactive stuck' })
  expect(await ask('reason=not_passed')).toEqual({})
  expect(await ask('inactive_days=30&stuck_days=30')).toEqual({})
  for (const query of ['inactive_days=0', 'stuck_days=1.5', 'stuck_below=101', 'reason=lazy']) {
    expect(await admin.get(`/v1/analytics/at-risk?${query}`), query).toMatchObject({ status: 400 })
  }
})

test('instructors get the figures of their own courses', { tags: ['slow'] }, async ({
  admin,
  instructor,
}) => {
  const [own, other] = [
    await makeCourse(admin, 'Own', { a: [30, 20] }),
    await makeCourse(admin, 'Other', { b: [30, 20] }),
  ]
  await admin.post('/v1/enrollments', { courseId: own, userId: instructor.id, role: 'instructor' })
  for (const [courseId, learner] of [
    [own, 'a'],
    [other, 'b'],
  ]) {
    await admin.put('/v1/grades', { learnerId: `ext:${learner}`, courseId, itemId: 'exam', scoreGiven: 80 })
  }
  expect(reasonsIn(await instructor.get('/v1/analytics/at-risk'))).toEqual({ a: 'inactive stuck' })
  const { body: items } = await instructor.get('/v1/analytics/grades')
  expect(items.data).toMatchObject([{ courseId: own, itemId: 'exam', count: 1, median: 80, passRate: 100 }])
  const { body: activity } = await instructor.get('/v1/analytics/activity?by=month')
  const sum = (name: 'progressUpdates' | 'grades') =>
    activity.data.reduce((total: number, period: ActivityPeriod) => total + period[name], 0)
  expect([sum('progressUpdates'), sum('grades')]).toEqual([1, 1])
  for (const question of ['at-risk', 'activity', 'grades']) {
    const answer = await instructor.get(`/v1/analytics/${question}?course_id=${other}`)
    expect(answer, question).toMatchObject({ status: 404, body: { code: 'not_found' } })
  }
})

test('groups, terms and learners narrow every answer', async ({ admin }) => {
  const course = await makeCourse(admin, 'Logic', { a: [30, 20], b: [100, 20] })
  await makeCourse(admin, 'Ethics', { c: [30, 20] })
  const { body: term } = await admin.post('/v1/terms', { name: 'Spring' })
  await admin.put(`/v1/courses/${course}`, { termId: term.id })
  const { body: group } = await admin.post('/v1/groups', { name: 'Team' })
  await admin.put(`/v1/groups/${group.id}/members/ext:a`)
  await admin.put(`/v1/groups/${group.id}/members/ext:c`)
  for (const [learnerId, courseId] of [
    ['ext:a', 'ext:Logic'],
    ['ext:b', 'ext:Logic'],
    ['ext:c', 'ext:Ethics'],
  ]) {
    await admin.put('/v1/grades', { learnerId, courseId, itemId: 'exam', scoreGiven: 80, label: 'Exam' })
  }
  const ask = async (filter: string) => {
    const activity = (await admin.get(`/v1/analytics/activity?by=month&start_date=2026-01-01&${filter}`)).body
    const items = (await admin.get(`/v1/analytics/grades?${filter.replace(/learner_id=.*/, '')}`)).body
    return [
      Object.keys(reasonsIn(await admin.get(`/v1/analytics/at-risk?${filter}`))).join(' '),
      activity.data.map(({ activeLearners }: ActivityPeriod) => activeLearners).join(' '),
      items.data.map(({ courseTitle, count }: ItemGrades) => `${courseTitle} ${count}`).join(' '),
    ]
  }
  expect(await ask('')).toEqual(['a c', '0 3 0', 'Ethics 1 Logic 2'])
  expect(await ask(`group_id=${group.id}`)).toEqual(['a c', '0 2 0', 'Ethics 1 Logic 1'])
  expect(await ask(`term_id=${term.id}`)).toEqual(['a', '0 2 0', 'Logic 2'])
  expect(await ask(`term_id=${term.id}&group_id=${group.id}`)).toEqual(['a', '0 1 0', 'Logic 1'])
  expect(await ask('course_id=ext:Ethics')).toEqual(['c', '0 1 0', 'Ethics 1'])
  expect(await ask('learner_id=ext:b,ext:c')).toEqual(['c', '0 2 0', 'Ethics 1 Logic 2'])
})

test('an item has the name of its newest grade, and the lesson that it is about', async ({
  admin,
  clock,
}) => {
  const courseId = await makeCourse(admin, 'Logic', { a: [30, 1], b: [30, 1] })
  const lesson = { courseId, title: 'Proofs', externalId: 'proofs' }
  const { id: lessonId } = (await admin.post('/v1/lessons', lesson)).body
  const grade = (itemId: string, learner: string, label?: string) =>
    admin.put('/v1/grades', { learnerId: `ext:${learner}`, courseId, itemId, scoreGiven: 80, label })
  await grade('proofs', 'a', 'Old name')
  clock.advance(1000)
  await grade('proofs', 'b', 'New name')
  await grade('$course', 'a')
  await grade('quiz', 'a')
  const { body } = await admin.get('/v1/analytics/grades')
  expect(body.data.map((item: ItemGrades) => [item.itemId, item.itemTitle, item.lessonId])).toEqual([
    ['$course', 'Whole course', null],
    ['proofs', 'New name', lessonId],
    ['quiz', 'quiz', null],
  ])
})

test('a correction of a score is not another grade, a second attempt is', async ({ admin }) => {
  const courseId = await makeCourse(admin, 'Logic', { a: [30, 1] })
  const grade = (scoreGiven: number | null, days: number) =>
    admin.put('/v1/grades', { learnerId: 'ext:a', courseId, itemId: 'exam', scoreGiven, gradedAt: ago(days) })
  const counted = async () => {
    const { body } = await admin.get('/v1/analytics/activity?by=week&start_date=2026-01-05')
    return body.data.reduce((sum: number, { grades }: ActivityPeriod) => sum + grades, 0)
  }
  await grade(40, 30)
  await grade(45, 30)
  expect(await counted()).toBe(1)
  await grade(70, 10)
  expect(await counted()).toBe(2)
  await grade(null, 5)
  expect(await counted()).toBe(2)
  expect((await admin.get('/v1/analytics/grades')).body.data).toEqual([])
})
