import sql, { type Sql } from 'sql-template-tag'
import type { StatusFigures, Step } from '../counters/standings.ts'
import type { Database, Row } from '../database/database.ts'
import { type Condition, where } from '../database/keyset.ts'
import type { SummaryParts } from './analytics-summary.ts'

const status = sql`coalesce(p.status, 'none')`
const percentage = sql`sum(floor(coalesce(p.percentage, 0) * 1000000 + 0.5))`

/**
 * The parts of a summary over rows, which are all read: over those of some learners, or of a period.
 *
 * @param tables `u`, `e`, `c`, `p` and `g` of learners' enrolments
 */
export async function partsOfRows(
  database: Database,
  tables: Sql,
  conditions: readonly Condition[],
): Promise<SummaryParts> {
  const groups = await database.all<Row & StatusFigures & Step>(sql`
    select e.course_id as "courseId", ${status} as status, floor(coalesce(p.percentage, 0) * 100) as hundredths,
      count(*) as learners, ${percentage} as percentage, count(g.percent) as graded,
      coalesce(sum(floor(g.percent * 1000000 + 0.5)), 0) as grade
    from ${tables} ${where(conditions)} group by 1, 2, 3`)
  const steps = groups.map(({ status, hundredths, learners, percentage: amount }) => {
    return { status, hundredths, learners, amount }
  })
  return {
    figures: groups,
    steps: steps.sort((one, other) => one.hundredths - other.hundredths),
    learners: await distinctLearners(database, tables, conditions),
  }
}

/** How many different learners these rows are of. */
export async function distinctLearners(
  database: Database,
  tables: Sql,
  conditions: readonly Condition[],
): Promise<number> {
  const counted = await database.one<Row & { learners: number }>(
    sql`select count(distinct e.user_id) as learners from ${tables} ${where(conditions)}`,
  )
  return counted?.learners ?? 0
}
