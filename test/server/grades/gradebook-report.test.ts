import sql from 'sql-template-tag'
import { expect } from 'vitest'
import type { GradebookGrade, GradebookRow } from '../../../src/contract/grades.ts'
import type { Row } from '../../../src/server/database/database.ts'
import { test } from '../../helpers/academy.ts'

/** Makes four learners of one course, the last without grades, and one of another course. */
const school = test.extend('school', async ({ admin }) => {
  const make = async (kind: string, body: object) => (await admin.post(`/v1/${kind}`, body)).body.id as string
  const courseId = await make('courses', { title: 'Logic', externalId: 'LOG', status: 'published' })
  const otherId = await make('courses', { title: 'Rhetoric', externalId: 'RHE', status: 'published' })
  const learners = []
  for (const name of ['ada', 'bob', 'eve', 'zoe', 'far']) {
    const userId = await make('users', { email: `${name}@b.example`, externalId: name })
    await make('enrollments', { courseId: name === 'far' ? otherId : courseId, userId })
    learners.push(userId)
  }
  const grade = (name: string, body: object) =>
    admin.put('/v1/grades', { learnerId: `ext:${name}`, courseId, extraCredit: true, ...body })
  await grade('ada', { itemId: 'essay', label: 'Essay', scoreGiven: 17, scoreMaximum: 20 })
  await grade('bob', { itemId: 'essay', label: 'Essay', scoreGiven: 9, scoreMaximum: 10 })
  await grade('ada', { itemId: 'exam', label: 'Essay', scoreGiven: 104, weight: 60 })
  await grade('ada', { itemId: 'exam', source: 'canvas', scoreGiven: 50, gradedAt: '2026-02-01T00:00:00Z' })
  await grade('eve', { itemId: 'exam', scoreGiven: null })
  await grade('eve', { itemId: 'quiz', label: 'Quiz', scoreGiven: 40, published: false })
  await admin.put('/v1/grades', { learnerId: 'ext:far', courseId: otherId, itemId: 'far', scoreGiven: 1 })
  return { courseId, learners }
})

const path = '/v1/gradebooks/ext:LOG'

school('a gradebook has a row per learner, and each item once', async ({ admin, school }) => {
  const { body } = await admin.get(`${path}?include_total=true`)
  expect(body.items).toEqual([
    { itemId: 'essay', label: 'Essay', scoreMaximum: 10, weight: null },
    { itemId: 'exam', label: 'Essay', scoreMaximum: 100, weight: 60 },
  ])
  expect(body.total).toBe(4)
  expect(body.data.map(({ email }: GradebookRow) => email)).toEqual(
    ['ada', 'bob', 'eve', 'zoe'].map((name) => `${name}@b.example`),
  )
  expect(body.data[0]).toMatchObject({
    learnerId: school.learners[0],
    externalId: 'ada',
    enrollmentStatus: 'active',
    passed: true,
  })
  const byItem = new Map((body.data[0].grades as GradebookGrade[]).map((grade) => [grade.itemId, grade]))
  expect(byItem.get('essay')).toEqual({
    itemId: 'essay',
    source: 'manual',
    scoreGiven: 17,
    scoreMaximum: 20,
    percent: 85,
    published: true,
  })
  // Of two sources, the newer grade.
  expect(byItem.get('exam')).toMatchObject({ source: 'manual', scoreGiven: 104, percent: 104 })
  expect(body.data[2]).toMatchObject({ gradePercent: null, passed: null, grades: [] })
})

school('of two equally old grades the source that is first by name counts', async ({ admin, school }) => {
  for (const [learner, sources] of [
    ['bob', ['canvas', 'moodle']],
    ['zoe', ['moodle', 'canvas']],
  ] as const) {
    for (const source of sources) {
      const sent = { learnerId: `ext:${learner}`, courseId: school.courseId, itemId: 'exam', source }
      await admin.put('/v1/grades', { ...sent, scoreGiven: 50, gradedAt: '2026-02-01T00:00:00Z' })
    }
  }
  for (const learner of ['bob', 'zoe']) {
    const { body } = await admin.get(`${path}?learner_id=ext:${learner}`)
    const grades: GradebookGrade[] = body.data[0].grades
    expect(grades.find(({ itemId }) => itemId === 'exam')?.source).toBe('canvas')
  }
})

school('unpublished grades are included only if asked for', async ({ admin, school }) => {
  expect(school.learners).toHaveLength(5)
  const { body } = await admin.get(`${path}?include_unpublished=true&learner_id=ext:eve`)
  expect(body.items.map(({ itemId }: GradebookGrade) => itemId)).toEqual(['essay', 'exam', 'quiz'])
  expect(body.data).toMatchObject([{ grades: [{ itemId: 'quiz', scoreGiven: 40, published: false }] }])
})

school('removed learners are left out; a group limits the rows', async ({ admin, school }) => {
  await admin.post('/v1/groups', { name: 'G', externalId: 'G' })
  for (const index of [1, 3]) await admin.put(`/v1/groups/ext:G/members/${school.learners[index]}`)
  const emailsOf = async (query: string) =>
    (await admin.get(`${path}?${query}`)).body.data.map(({ email }: GradebookRow) => email)
  expect(await emailsOf('group_id=ext:G')).toEqual(['bob@b.example', 'zoe@b.example'])
  await admin.delete(`/v1/users/${school.learners[1]}`)
  expect(await emailsOf('')).toEqual(['ada@b.example', 'eve@b.example', 'zoe@b.example'])
})

school('pages have the same cells as the tables', async ({ academy, admin, school }) => {
  const cells: string[] = []
  let pages = 0
  for (let cursor: string | null = ''; cursor !== null; pages += 1) {
    const { body }: { body: { data: GradebookRow[]; items?: unknown; nextCursor: string | null } } =
      await admin.get(`${path}?limit=1&include_unpublished=true${cursor && `&cursor=${cursor}`}`)
    expect(body.items === undefined).toBe(cursor !== '')
    for (const { learnerId, grades } of body.data) {
      for (const { itemId, percent } of grades) cells.push(`${learnerId} ${itemId} ${percent.toFixed(4)}`)
    }
    cursor = body.nextCursor
  }
  expect(pages).toBeGreaterThanOrEqual(4)
  const stored = await academy.database.all<Row & { user_id: string; item_id: string; percent: number }>(sql`
    select g.user_id, g.item_id, 100.0 * g.score_given / g.score_maximum as percent from grades g
    where g.course_id = ${school.courseId} and g.cleared = 0 and not exists (
      select 1 from grades n where n.user_id = g.user_id and n.course_id = g.course_id and n.item_id = g.item_id
        and n.graded_at > g.graded_at)`)
  expect(cells.sort()).toEqual(
    stored.map((row) => `${row.user_id} ${row.item_id} ${row.percent.toFixed(4)}`).sort(),
  )
})
