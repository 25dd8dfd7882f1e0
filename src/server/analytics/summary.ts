import sql, { join } from 'sql-template-tag'
import type { Bucket, Summary } from '../../contract/analytics.ts'
import type { Database, Row } from '../database/database.ts'
import type { Condition } from '../database/page.ts'
import {
  type FigureRows,
  type Figures,
  gradeTenthsOf,
  medianOf,
  ofMillionths,
  readFigures,
  readKeptFigures,
  type Status,
  type StatusFigures,
  tenthsOf,
} from './figures.ts'
import type { RowFilter } from './row-filter.ts'
import { byCourse, byStatus, byTime, byUser, enrolledIn, type Joined } from './rows.ts'

export async function summariseFilter(database: Database, filter: RowFilter, now: Date): Promise<Summary> {
  return summaryOf(database, await readKeptFigures(database, rowsOfFilter(filter), now))
}

/** The conditions must select the rows of a few learners. */
export async function summariseRows(
  database: Database,
  conditions: readonly Condition[],
  now: Date,
): Promise<Summary> {
  return summaryOf(database, await readFigures(database, { tables: byUser, conditions }, now))
}

export function rowsOfFilter(filter: RowFilter): FigureRows {
  const { conditions, ofProgress } = filter
  return { tables: fewestRows(filter), conditions, ofProgress }
}

/** Begins with the table whose index leaves the fewest rows. */
function fewestRows(filter: RowFilter): Joined {
  const { query, courses, learnerIds, groupIds, inPeriod } = filter
  if (learnerIds || groupIds) return enrolledIn(filter)
  if (inPeriod && !query.include_not_started) return byTime(inPeriod)
  if (query.enrollment_status && !courses) return byStatus(query.enrollment_status)
  return courses ? enrolledIn(filter) : byCourse
}

/** Courses are ordered by title; the average of no values is null. */
export async function summaryOf(
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

async function titlesOf(database: Database, courseIds: readonly string[]) {
  if (courseIds.length === 0) return []
  return database.all<Row & { id: string; title: string }>(
    sql`select id, title from courses where id in (${join(courseIds)}) order by title, id`,
  )
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
