import sql, { join } from 'sql-template-tag'
import type { analytics } from '../../contract/analytics.ts'
import type { LearnerChange } from '../../contract/data-tables.ts'
import type { Database, Row } from '../database/database.ts'
import { resolveFilters } from '../database/reference.ts'
import type { Call } from '../http/handler.ts'
import { type FeedRow, readFeed } from './change-feed.ts'
import { byPair, rowsOf, selected, toLearnerRow } from './rows.ts'

interface Pair {
  readonly userId: string
  readonly courseId: string
}

/**
 * Reads a page of changed rows of learner data, each once, as they are now. A page looks at a number of changes: it may have fewer
 * rows, or none. Deleted users and courses come without the rows that they remove, which may be many.
 */
export async function readLearnerChanges({ database, query }: Call<typeof analytics.learnerChanges>) {
  const { course_id: courses, learner_id: learners, after, cursor, limit } = query
  const courseIds = courses && (await resolveFilters(database, 'courses', courses, 'course_id'))
  const learnerIds = learners && (await resolveFilters(database, 'users', learners, 'learner_id'))
  const { rows, until, isCut } = await readFeed(database, cursor ?? after, limit)
  const isOfCourse = (id: string) => courseIds?.includes(id) ?? true
  const isOfLearner = (id: string) => learnerIds?.includes(id) ?? true
  const pairs = pairsIn(rows).filter(({ userId, courseId }) => isOfLearner(userId) && isOfCourse(courseId))
  const data = [
    ...(await changesOf(database, pairs)),
    ...(await deletedUsers(database, idsOf(rows, 'user').filter(isOfLearner))),
    ...(await deletedCourses(database, idsOf(rows, 'course').filter(isOfCourse))),
  ]
  return { data, nextCursor: isCut ? until : null, until }
}

function pairsIn(rows: readonly FeedRow[]): Pair[] {
  const pairs = new Map<string, Pair>()
  for (const { user_id: userId, course_id: courseId } of rows) {
    if (userId !== null && courseId !== null) pairs.set(`${userId} ${courseId}`, { userId, courseId })
  }
  return [...pairs.values()]
}

function idsOf(rows: readonly FeedRow[], kind: 'user' | 'course'): string[] {
  return [...new Set(rows.filter((row) => row.kind === kind).map(({ id }) => id))]
}

async function changesOf(database: Database, pairs: readonly Pair[]): Promise<LearnerChange[]> {
  if (pairs.length === 0) return []
  const keys = pairs.map(({ userId, courseId }) => sql`(${userId}, ${courseId})`)
  const rows = await database.all(sql`
    with k (user_id, course_id) as (values ${join(keys)})
    select ${selected} from ${rowsOf(byPair, [sql`e.status <> 'deleted'`, sql`u.status <> 'deleted'`])}`)
  const found = new Map(rows.map(toLearnerRow).map((row) => [`${row.learnerId} ${row.courseId}`, row]))
  return pairs.map(({ userId, courseId }) => {
    const row = found.get(`${userId} ${courseId}`) ?? null
    return { learnerId: userId, courseId, state: row ? 'current' : 'removed', row }
  })
}

async function deletedUsers(database: Database, ids: readonly string[]): Promise<LearnerChange[]> {
  if (ids.length === 0) return []
  const rows = await database.all<Row & { id: string }>(
    sql`select id from users where id in (${join([...ids])}) and status = 'deleted'`,
  )
  return rows.map(({ id }) => ({ learnerId: id, courseId: null, state: 'removed', row: null }))
}

async function deletedCourses(database: Database, ids: readonly string[]): Promise<LearnerChange[]> {
  if (ids.length === 0) return []
  const rows = await database.all<Row & { id: string }>(
    sql`select id from courses where id in (${join([...ids])})`,
  )
  const found = new Set(rows.map(({ id }) => id))
  return ids
    .filter((id) => !found.has(id))
    .map((id) => ({ learnerId: null, courseId: id, state: 'removed', row: null }))
}
