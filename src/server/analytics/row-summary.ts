import sql from 'sql-template-tag'
import type { StatusFigures, Step } from '../counters/standings.ts'
import type { Database, Row } from '../database/database.ts'
import type { Condition } from '../database/keyset.ts'
import type { SummaryParts } from './analytics-summary.ts'
import { type Joined, rowsOf } from './analytics-tables.ts'

/** Reads the figures of a summary in one pass over all rows: those of some learners, or of a period. */
export async function partsOfRows(
  database: Database,
  tables: Joined,
  conditions: readonly Condition[],
): Promise<SummaryParts> {
  // The last row, without a course, counts the learners.
  const groups = await database.all<Row & StatusFigures & Step & { courseId: string | null }>(sql`
    with found as materialized (
      select e.user_id, e.course_id, coalesce(p.status, 'none') as status, coalesce(p.percentage, 0) as percentage,
        g.percent as grade
      from ${rowsOf(tables, conditions)})
    select course_id as "courseId", status, floor(percentage * 100) as hundredths, count(*) as learners,
      sum(floor(percentage * 1000000 + 0.5)) as percentage, count(grade) as graded,
      coalesce(sum(floor(grade * 1000000 + 0.5)), 0) as grade
    from found group by 1, 2, 3
    union all select null, '', 0, count(distinct user_id), 0, 0, 0 from found`)
  const figures = groups.filter(({ courseId }) => courseId !== null)
  const steps = figures.map(({ status, hundredths, learners, percentage: amount }) => {
    return { status, hundredths, learners, amount }
  })
  return {
    figures,
    steps: steps.sort((one, other) => one.hundredths - other.hundredths),
    learners: groups.find(({ courseId }) => courseId === null)?.learners ?? 0,
  }
}

/** Counts the distinct learners of these rows. */
export async function distinctLearners(
  database: Database,
  tables: Joined,
  conditions: readonly Condition[],
): Promise<number> {
  const counted = await database.one<Row & { learners: number }>(
    sql`select count(distinct e.user_id) as learners from ${rowsOf(tables, conditions)}`,
  )
  return counted?.learners ?? 0
}
