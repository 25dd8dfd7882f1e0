import sql, { join, type Sql } from 'sql-template-tag'
import type { Attention } from '../../contract/constants.ts'
import { type Asking, seenOnly, taughtCourses } from '../access/sight.ts'
import type { Database, Row } from '../database/database.ts'
import {
  type FigureRows,
  type Figures,
  medianOf,
  ofMillionths,
  readFigures,
  readKeptFigures,
  type StatusFigures,
  tenthsOf,
} from './figures.ts'
import { byCourse } from './rows.ts'

/** Of a course, or of all courses; the average of no values is null. */
export interface Standing {
  readonly enrollments: number
  readonly notStarted: number
  readonly inProgress: number
  readonly completed: number
  /** Number of learners in progress at 0–9%, 10–19% … 90–99%. */
  readonly tenths: readonly number[]
  readonly averageCompletionPercentage: number | null
  readonly medianCompletionPercentage: number | null
  readonly averageGradePercent: number | null
  readonly medianGradePercent: number | null
  /** Percentage of the graded enrolments. */
  readonly passRate: number | null
  readonly attention: Readonly<Record<Attention, number>>
}

export interface CourseAttention {
  readonly courseId: string
  readonly courseTitle: string
  readonly courseExternalId: string | null
  readonly attention: Standing['attention']
}

type CourseStanding = Pick<
  Standing,
  'enrollments' | 'notStarted' | 'inProgress' | 'completed' | 'averageCompletionPercentage'
>

export async function readCourseStanding(database: Database, courseId: string, now: Date): Promise<Standing> {
  return standingOf(await readFigures(database, rowsIn(sql`${courseId}`), now))
}

/** Learners who were not deleted, in all courses or those that a statement selects. */
function rowsIn(courses: Sql | undefined): FigureRows {
  const conditions = [
    courses && sql`c.id in (${courses})`,
    sql`e.status <> 'deleted'`,
    sql`u.status <> 'deleted'`,
  ]
  return { tables: byCourse, conditions }
}

/** Only what a user sees. */
interface AcademyStanding {
  /** Each counted once even in several courses. */
  readonly learners: number
  readonly all: Standing
  readonly byCourse: Standings
  /** Published ones. */
  readonly courses: readonly CourseAttention[]
}

export async function readAcademyStanding(seer: Asking, now: Date): Promise<AcademyStanding> {
  const { database } = seer
  const taught = taughtCourses(seer)
  const figures = await readKeptFigures(database, rowsIn(taught), now)
  const published = sql`select id from courses where ${seenOnly(sql`status = 'published'`, taught && sql`id in (${taught})`)}`
  const courses = await attentionByCourse(database, published, figures)
  return { learners: figures.learners, all: standingOf(figures), byCourse: standingsOf(figures), courses }
}

/** By id; courses without learners are missing. */
export type Standings = ReadonlyMap<string, CourseStanding>

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
  return new Map([...byCourse].map(([courseId, own]) => [courseId, partsOf(own)]))
}

function standingOf({ byStatus, steps, gradeSteps }: Figures): Standing {
  const graded = sumOf(byStatus, (one) => one.graded)
  const passed = sumOf(byStatus, (one) => one.passed)
  return {
    ...partsOf(byStatus),
    tenths: tenthsOf(steps.filter(({ status }) => status === 'in_progress')),
    medianCompletionPercentage: medianOf(steps),
    averageGradePercent: average(
      sumOf(byStatus, ({ grade }) => grade),
      graded,
    ),
    medianGradePercent: medianOf(gradeSteps),
    passRate: graded === 0 ? null : (100 * passed) / graded,
    attention: attentionOf(byStatus),
  }
}

function attentionOf(figures: readonly StatusFigures[]): Standing['attention'] {
  return {
    inactive: sumOf(figures, ({ inactive }) => inactive),
    stuck: sumOf(figures, ({ stuck }) => stuck),
    not_passed: sumOf(figures, ({ not_passed: notPassed }) => notPassed),
  }
}

function partsOf(
  figures: readonly Pick<StatusFigures, 'status' | 'learners' | 'percentage'>[],
): CourseStanding {
  const enrollments = sumOf(figures, ({ learners }) => learners)
  const counted = (...statuses: readonly string[]) =>
    sumOf(figures, ({ status, learners }) => (statuses.includes(status) ? learners : 0))
  return {
    enrollments,
    notStarted: counted('none'),
    inProgress: counted('in_progress'),
    completed: counted('completed'),
    averageCompletionPercentage: average(
      sumOf(figures, ({ percentage }) => percentage),
      enrollments,
    ),
  }
}

/** Returns the learners who need attention in the courses that a statement selects, also where there are none. */
export async function attentionByCourse(
  database: Database,
  courses: Sql,
  { byStatus }: Pick<Figures, 'byStatus'>,
): Promise<CourseAttention[]> {
  const titled = await database.all<Row & { id: string; title: string; external_id: string | null }>(
    sql`select id, title, external_id from courses where id in (${courses}) order by title, id`,
  )
  const figuresById = Map.groupBy(byStatus, ({ courseId }) => courseId)
  return titled.map(({ id, title, external_id: courseExternalId }) => {
    const attention = attentionOf(figuresById.get(id) ?? [])
    return { courseId: id, courseTitle: title, courseExternalId, attention }
  })
}

function sumOf<One>(all: readonly One[], of: (one: One) => number): number {
  return all.reduce((sum, one) => sum + of(one), 0)
}

function average(amount: number, count: number): number | null {
  return count === 0 ? null : ofMillionths(amount) / count
}
