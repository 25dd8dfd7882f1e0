import sql, { join, type Sql } from 'sql-template-tag'
import type { Database, Row } from '../database/database.ts'
import { counters } from './count.ts'

/** The learners of one course who may need attention. */
export interface Quiet {
  readonly courseId: string
  /** Not completed, and not seen since before the day asked for. */
  readonly unseen: number
  /** In progress below the half, and not risen since before that day. */
  readonly unrisen: number
  /** With a grade below the passing score. */
  readonly failed: number
}

const measures = { open: 'unseen', early: 'unrisen', failed: 'failed' } as const

/**
 * Who may need attention, course by course: all of whom that could be said, without those of the days from the first on.
 *
 * @param courses a statement that selects course ids
 * @param firstDay the first day that is recent, such as 20260131
 */
export async function quietLearners(database: Database, courses: Sql, firstDay: number): Promise<Quiet[]> {
  const found = new Map<string, Quiet>()
  const add = (
    rows: readonly (Row & { kind: string; course_id: string; learners: number })[],
    times: number,
  ) => {
    for (const { kind, course_id: courseId, learners } of rows) {
      const measure = measures[kind.replace(' since', '') as keyof typeof measures]
      const before = found.get(courseId) ?? { courseId, unseen: 0, unrisen: 0, failed: 0 }
      found.set(courseId, { ...before, [measure]: before[measure] + times * learners })
    }
  }
  const all = sql`kind in (${join(Object.keys(measures))})`
  const recent = sql`kind in (${join(['open since', 'early since'])}) and place >= ${firstDay}`
  for (const [condition, times] of [
    [all, 1],
    [recent, -1],
  ] as const) {
    add(
      await database.all(sql`
        select kind, course_id, learners from ${counters} where ${condition} and course_id in (${courses})`),
      times,
    )
  }
  return [...found.values()]
}
