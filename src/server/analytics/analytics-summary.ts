import sql, { empty, join, type Sql } from 'sql-template-tag'
import type { Summary } from '../../contract/analytics.ts'
import type { StatusFigures, Step } from '../counters/standings.ts'
import { type CountedStatus, ofMillionths } from '../counters/tally.ts'
import type { Database, Row } from '../database/database.ts'
import { medianOf, tenthsOf } from './median.ts'

const fewCourses = 100

/** The figures that a summary is calculated from. */
export interface SummaryParts {
  /** Number of distinct learners; null if counting them would take too long. */
  readonly learners: number | null
  readonly figures: readonly StatusFigures[]
  readonly steps: readonly Step[]
}

/** Returns the summary of these figures, with courses ordered by title; the average of no values is null. */
export async function summaryOf(
  database: Database,
  { learners, figures, steps }: SummaryParts,
): Promise<Summary> {
  const median = medianOf(steps)
  const byCourse = Map.groupBy(figures, ({ courseId }) => courseId)
  return {
    learners,
    ...figuresOf(figures),
    medianCompletionPercentage: median === null ? null : rounded(median),
    distribution: tenthsOf(steps),
    byCourse: (await titlesOf(database, [...byCourse.keys()])).map(({ id, title }) => ({
      courseId: id,
      courseTitle: title,
      ...figuresOf(byCourse.get(id) ?? []),
    })),
  }
}

function figuresOf(figures: readonly StatusFigures[]) {
  const enrollments = sum(figures, ({ learners }) => learners)
  const counted = (...statuses: readonly CountedStatus[]) =>
    sum(figures, ({ status, learners }) => (statuses.includes(status) ? learners : 0))
  const completed = counted('completed')
  const average = (total: number, count: number) =>
    count === 0 ? null : rounded(ofMillionths(total / count))
  return {
    enrollments,
    notStarted: counted('none', 'not_started'),
    inProgress: counted('in_progress'),
    completed,
    completionRate: enrollments === 0 ? null : rounded(completed / enrollments),
    averageCompletionPercentage: average(
      sum(figures, ({ percentage }) => percentage),
      enrollments,
    ),
    averageGradePercent: average(
      sum(figures, ({ grade }) => grade),
      sum(figures, ({ graded }) => graded),
    ),
  }
}

async function titlesOf(
  database: Database,
  courseIds: readonly string[],
): Promise<{ id: string; title: string }[]> {
  if (courseIds.length === 0) return []
  const titled = (only: Sql) =>
    database.all<Row & { id: string; title: string }>(
      sql`select id, title from courses ${only} order by title, id`,
    )
  // The number of parameters of a statement is limited.
  if (courseIds.length <= fewCourses) return titled(sql`where id in (${join(courseIds)})`)
  const wanted = new Set(courseIds)
  return (await titled(empty)).filter(({ id }) => wanted.has(id))
}

function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000
}

function sum(figures: readonly StatusFigures[], of: (one: StatusFigures) => number): number {
  return figures.reduce((total, one) => total + of(one), 0)
}
