import sql, { join, type Sql } from 'sql-template-tag'
import type { Bucket, Summary } from '../../contract/analytics.ts'
import { type Attention, attentionKinds } from '../../contract/constants.ts'
import { type Asking, seenOnly, taughtCourses } from '../access/sight.ts'
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
  const titles =
    byStatus.length === 0 ? [] : await titlesOf(database, sql`${join([...figuresByCourse.keys()])}`)
  const distribution = tenthsOf(steps)
  return {
    learners,
    ...figuresOf(byStatus),
    medianCompletionPercentage: roundedOrNull(medianOf(steps)),
    medianGradePercent: roundedOrNull(medianOf(gradeSteps)),
    distribution,
    completionDistribution: bucketsOf(distribution),
    gradeDistribution: bucketsOf(gradeTenthsOf(gradeSteps)),
    byCourse: titles.map(({ id, title }) => ({
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

/** By title; `courses` are ids, or a statement that selects them. */
function titlesOf(database: Database, courses: Sql) {
  return database.all<Row & { id: string; title: string; external_id: string | null }>(
    sql`select id, title, external_id from courses where id in (${courses}) order by title, id`,
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

export interface Standing extends ReturnType<typeof figuresOf> {
  /** Learners in progress at 0–9%, 10–19% … 90–99%. */
  readonly tenths: readonly number[]
  readonly medianCompletionPercentage: number | null
  readonly medianGradePercent: number | null
  readonly attention: Readonly<Record<Attention, number>>
}

export interface CourseAttention {
  readonly courseId: string
  readonly courseTitle: string
  readonly courseExternalId: string | null
  readonly attention: Standing['attention']
}

/** By id; courses without learners are missing. */
export type Standings = ReadonlyMap<string, ReturnType<typeof figuresOf>>

export async function readCourseStanding(database: Database, courseId: string, now: Date): Promise<Standing> {
  return standingOf(await readFigures(database, rowsIn(sql`${courseId}`), now))
}

function rowsIn(courses: Sql | undefined): FigureRows {
  const conditions = [
    courses && sql`c.id in (${courses})`,
    sql`e.status <> 'deleted'`,
    sql`u.status <> 'deleted'`,
  ]
  return { tables: byCourse, conditions }
}

/** Reads the figures of what a user sees: learners, each counted once, and published courses with those who need attention. */
export async function readAcademyStanding(seer: Asking, now: Date) {
  const { database } = seer
  const taught = taughtCourses(seer)
  const figures = await readKeptFigures(database, rowsIn(taught), now)
  const published = sql`select id from courses where ${seenOnly(sql`status = 'published'`, taught && sql`id in (${taught})`)}`
  const courses = await attentionByCourse(database, published, figures)
  return { learners: figures.learners, all: standingOf(figures), byCourse: standingsOf(figures), courses }
}

export async function readStandings(
  database: Database,
  courseIds: readonly string[],
  now: Date,
): Promise<Standings> {
  if (courseIds.length === 0) return new Map()
  return standingsOf(await readFigures(database, rowsIn(sql`${join(courseIds)}`), now))
}

function standingsOf({ byStatus }: Figures): Standings {
  const byCourse = Map.groupBy(byStatus, ({ courseId }) => courseId)
  return new Map([...byCourse].map(([courseId, own]) => [courseId, figuresOf(own)]))
}

function standingOf({ byStatus, steps, gradeSteps }: Figures): Standing {
  return {
    ...figuresOf(byStatus),
    tenths: tenthsOf(steps.filter(({ status }) => status === 'in_progress')),
    medianCompletionPercentage: roundedOrNull(medianOf(steps)),
    medianGradePercent: roundedOrNull(medianOf(gradeSteps)),
    attention: attentionOf(byStatus),
  }
}

function attentionOf(figures: readonly StatusFigures[]): Standing['attention'] {
  const counts = attentionKinds.map((kind) => [kind, sum(figures, (one) => one[kind])])
  return Object.fromEntries(counts) as Standing['attention']
}

export async function attentionByCourse(
  database: Database,
  courses: Sql,
  { byStatus }: Pick<Figures, 'byStatus'>,
): Promise<CourseAttention[]> {
  const figuresById = Map.groupBy(byStatus, ({ courseId }) => courseId)
  return (await titlesOf(database, courses)).map(({ id, title, external_id: courseExternalId }) => {
    const attention = attentionOf(figuresById.get(id) ?? [])
    return { courseId: id, courseTitle: title, courseExternalId, attention }
  })
}
