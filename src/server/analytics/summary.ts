import sql, { empty, join, type Sql } from 'sql-template-tag'
import type { Bucket, Summary } from '../../contract/analytics.ts'
import type { Database, Row } from '../database/database.ts'
import type { Condition } from '../database/keyset.ts'
import {
  type Figures,
  gradeTenthsOf,
  medianOf,
  ofMillionths,
  readFigures,
  type Status,
  type StatusFigures,
  tenthsOf,
} from './figures.ts'
import { allConditions, hasStatus, type RowFilter } from './row-filter.ts'
import { byCourse, byMember, byStatus, byTime, byUser, type Rows } from './rows.ts'

/** Summarises the rows of a filter. */
export async function summariseFilter(database: Database, filter: RowFilter): Promise<Summary> {
  return summaryOf(database, await readFigures(database, rowsOfFilter(filter)))
}

/** The conditions must select the rows of a few learners. */
export async function summariseRows(database: Database, conditions: readonly Condition[]): Promise<Summary> {
  return summaryOf(database, await readFigures(database, { tables: byUser, conditions }))
}

/** Begins with the table whose index leaves the fewest rows. */
function rowsOfFilter(filter: RowFilter): Rows {
  const { query, courses, learnerIds, groupIds, inPeriod } = filter
  const conditions = allConditions(filter)
  if (learnerIds) return { tables: byUser, conditions }
  if (groupIds) return { tables: byMember(groupIds), conditions }
  const inCourses = courses && sql`c.id in (${courses})`
  if (inPeriod && !query.include_not_started)
    return { tables: byTime, conditions: [inCourses, ...conditions] }
  if (query.enrollment_status && !courses) {
    return { tables: byStatus, conditions: [hasStatus(query.enrollment_status), ...conditions] }
  }
  return { tables: byCourse, conditions: [inCourses, ...conditions] }
}

/** Courses are ordered by title; the average of no values is null. */
async function summaryOf(
  database: Database,
  { learners, byStatus, steps, gradeSteps }: Figures,
): Promise<Summary> {
  const figuresByCourse = Map.groupBy(byStatus, ({ courseId }) => courseId)
  const distribution = tenthsOf(steps)
  return {
    learners,
    ...figuresOf(byStatus),
    medianCompletionPercentage: roundedOrNull(medianOf(steps)),
    medianGradePercent: roundedOrNull(medianOf(gradeSteps)),
    distribution,
    completionDistribution: bucketsOf(distribution),
    gradeDistribution: bucketsOf(gradeTenthsOf(gradeSteps)),
    byCourse: (await titlesOf(database, [...figuresByCourse.keys()])).map(({ id, title }) => ({
      courseId: id,
      courseTitle: title,
      ...figuresOf(figuresByCourse.get(id) ?? []),
    })),
  }
}

/** By tens of a per cent; the eleventh is above 100. */
function bucketsOf(counts: readonly number[]): Bucket[] {
  return counts.map((count, tenth) => ({ from: 10 * tenth, to: tenth < 10 ? 10 * (tenth + 1) : null, count }))
}

function figuresOf(figures: readonly StatusFigures[]) {
  const enrollments = sum(figures, ({ learners }) => learners)
  const counted = (...statuses: readonly Status[]) =>
    sum(figures, ({ status, learners }) => (statuses.includes(status) ? learners : 0))
  const completed = counted('completed')
  const graded = sum(figures, (one) => one.graded)
  const passed = sum(figures, (one) => one.passed)
  const share = (part: number, whole: number) => (whole === 0 ? null : rounded((100 * part) / whole))
  const average = (total: number, count: number) =>
    count === 0 ? null : rounded(ofMillionths(total / count))
  return {
    enrollments,
    notStarted: counted('none'),
    inProgress: counted('in_progress'),
    completed,
    completionRate: enrollments === 0 ? null : rounded(completed / enrollments),
    averageCompletionPercentage: average(
      sum(figures, ({ percentage }) => percentage),
      enrollments,
    ),
    averageGradePercent: average(
      sum(figures, ({ grade }) => grade),
      graded,
    ),
    completionPercentage: share(completed, enrollments),
    graded,
    passed,
    passRate: share(passed, graded),
  }
}

/** Looked up by id: the number of parameters of a statement is limited. */
const maxTitlesById = 100

async function titlesOf(
  database: Database,
  courseIds: readonly string[],
): Promise<{ id: string; title: string }[]> {
  if (courseIds.length === 0) return []
  const titled = (only: Sql) =>
    database.all<Row & { id: string; title: string }>(
      sql`select id, title from courses ${only} order by title, id`,
    )
  if (courseIds.length <= maxTitlesById) return titled(sql`where id in (${join(courseIds)})`)
  const wanted = new Set(courseIds)
  return (await titled(empty)).filter(({ id }) => wanted.has(id))
}

function roundedOrNull(value: number | null): number | null {
  return value === null ? null : rounded(value)
}

/** To four decimals. */
export function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000
}

function sum(figures: readonly StatusFigures[], of: (one: StatusFigures) => number): number {
  return figures.reduce((total, one) => total + of(one), 0)
}
