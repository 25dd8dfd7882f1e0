import { raw, type Sql } from 'sql-template-tag'
import { expect } from 'vitest'
import { learnerSorts, pageOfLearners } from '../../../src/server/analytics/learner-pages.ts'
import { readAcademyStanding, readCourseStanding } from '../../../src/server/analytics/summary.ts'
import type { Database } from '../../../src/server/database/database.ts'
import { onPostgres, test } from '../../helpers/academy.ts'

const now = new Date('2026-03-01T12:00:00.000Z')

/** Wraps a database to record its statements. */
function listening(database: Database): { database: Database; statements: Sql[] } {
  const statements: Sql[] = []
  const kept = <Result>(ask: (query: Sql) => Result) => {
    return (query: Sql) => {
      statements.push(query)
      return ask(query)
    }
  }
  const { one, all, cells } = database
  // Each wrapper has the type of its method.
  const heard = { one: kept(one), all: kept(all), cells: kept(cells) } as Database
  return { database: { ...database, ...heard }, statements }
}

/** Returns the plan of a statement in SQLite. */
async function planOf(database: Database, query: Sql): Promise<string[]> {
  const explained = Object.assign(raw(`explain query plan ${query.sql}`), { values: query.values })
  return (await database.all<{ detail: string }>(explained)).map(({ detail }) => detail)
}

test('a course page reads by indexes only, with the same number of statements for any number of learners', {
  tags: ['slow'],
}, async ({ academy, admin }) => {
  const { id } = (await admin.post('/v1/courses', { title: 'Logic', status: 'published' })).body
  const counts: number[] = []
  for (const learners of [1, 30]) {
    const emails = Array.from({ length: learners }, (_, index) => `l${learners}-${index}@b.example`)
    await admin.post('/v1/users/batch', { items: emails.map((email) => ({ email })) })
    await admin.post('/v1/progress/batch', {
      items: emails.map((email) => ({
        learnerId: `email:${email}`,
        courseId: id,
        completionPercentage: 10,
      })),
    })
    const { database, statements } = listening(academy.database)
    expect((await readCourseStanding(database, id, now)).medianCompletionPercentage).toBe(10)
    for (const sort of learnerSorts.flatMap((name) => [name, `-${name}`])) {
      const filter = { courseId: id, sort, search: 'l', status: 'in_progress' as const }
      for (const attention of [undefined, 'inactive', 'stuck', 'not_passed'] as const) {
        await pageOfLearners(database, { ...filter, attention }, now, { limit: 25 })
      }
    }
    counts.push(statements.length)
    // Only for plans of SQLite.
    for (const query of onPostgres ? [] : statements) {
      // The enrolments that were found by index.
      const isFound = query.sql.includes('from enrolled e') ? /^SCAN e$/ : /^SCAN \(subquery/
      const scans = (await planOf(academy.database, query)).filter(
        (detail) => /^SCAN (?!found)/.test(detail) && !isFound.test(detail),
      )
      expect(scans, query.sql).toEqual([])
    }
  }
  expect(counts[1]).toBe(counts[0])
})

test('figures of the academy are read once, and again after each write', async ({ academy, admin }) => {
  const { database, statements } = listening(academy.database)
  const seer = { database, principal: { userId: null, sees: 'all' } } as const
  const { id } = (await admin.post('/v1/courses', { title: 'Logic', status: 'published' })).body
  for (const enrolled of [1, 2]) {
    const user = (await admin.post('/v1/users', { email: `l${enrolled}@b.example` })).body
    await admin.post('/v1/enrollments', { courseId: id, userId: user.id })
    for (const _ of [1, 2, 3]) {
      expect((await readAcademyStanding(seer, now)).all.enrollments).toBe(enrolled)
    }
  }
  const reads = statements.filter(({ sql: text }) => text.includes('from enrolled e'))
  // Writes to other databases of a PostgreSQL server are seen as well.
  if (!onPostgres) expect(reads).toHaveLength(2)
})

test('everybody whose grade is counted either passed or did not pass, whatever became of the enrolment', async ({
  academy,
  admin,
}) => {
  const { id: courseId } = (await admin.post('/v1/courses', { title: 'Logic', status: 'published' })).body
  for (const [scoreGiven, status] of [
    [80, 'completed'],
    [20, 'active'],
    [20, 'completed'],
    [20, 'inactive'],
  ] as const) {
    const { id: userId } = await academy.person('learner')
    const enrollment = (await admin.post('/v1/enrollments', { courseId, userId })).body
    await academy.grade({ learnerId: userId, courseId, scoreGiven })
    await admin.put(`/v1/enrollments/${enrollment.id}`, { status })
  }
  const { passRate, attention } = await readCourseStanding(academy.database, courseId, now)
  expect({ passRate, ...attention }).toMatchObject({ passRate: 25, not_passed: 3 })
  const listed = (await admin.get('/v1/analytics/at-risk?reason=not_passed')).body.data
  expect(listed).toHaveLength(3)
  const filter = { courseId, sort: 'name', attention: 'not_passed' } as const
  const filtered = await pageOfLearners(academy.database, filter, now, { limit: 10 })
  expect(filtered.data).toHaveLength(3)
})

test('a learner is inactive or stuck from the fourteenth day on, and only where something is left to do', async ({
  academy,
  admin,
}) => {
  const course = { title: 'Logic', status: 'published', progressTracking: { completionThreshold: 40 } }
  const { id } = (await admin.post('/v1/courses', course)).body
  const set = async (completionPercentage: number, lastAccessed: string) => {
    const learner = await academy.person('learner')
    const body = { courseId: id, completionPercentage, lastAccessed }
    await admin.put(`/v1/learners/${learner.id}/progress`, body)
  }
  const attention = async () => (await readCourseStanding(academy.database, id, now)).attention
  await set(30, '2026-02-16T00:00:00.000Z')
  expect(await attention()).toEqual({ inactive: 0, stuck: 0, not_passed: 0 })
  await set(30, '2026-02-15T23:59:59.999Z')
  expect(await attention()).toEqual({ inactive: 1, stuck: 1, not_passed: 0 })
  await set(40, '2026-01-01T00:00:00.000Z')
  expect(await attention()).toEqual({ inactive: 1, stuck: 1, not_passed: 0 })
  await admin.put(`/v1/courses/${id}`, { status: 'archived' })
  expect(await attention()).toEqual({ inactive: 0, stuck: 0, not_passed: 0 })
})
