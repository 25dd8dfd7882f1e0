import sql, { join, type Sql } from 'sql-template-tag'
import { type Attention, attentionDays, stuckBelow } from '../../contract/constants.ts'
import { type Asking, seenOnly, taughtCourses } from '../access/sight.ts'
import { passingScore } from '../counters/counted-enrollment.ts'
import {
  countLearners,
  type GradeFigures,
  medianOf,
  readAcademyGrades,
  readAttention,
  readCourseFigures,
  readGradeSteps,
  readSteps,
  type Scope,
  type StatusFigures,
  type StatusStep,
  type Step,
  tenthsOf,
  wholeAcademy,
} from '../counters/standings.ts'
import { dayNumber, ofMillionths } from '../counters/tally.ts'
import type { Database, Row } from '../database/database.ts'
import { byCourse } from './rows.ts'
import { countDistinctLearners } from './summary.ts'

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

const zeroAttention: Standing['attention'] = { inactive: 0, stuck: 0, not_passed: 0 }

/** Each learner counted once. */
export async function readCourseStanding(database: Database, courseId: string, now: Date): Promise<Standing> {
  const scope = { ...wholeAcademy, courses: sql`${courseId}` }
  const figures = await readCourseFigures(database, scope)
  const [own] = await readAttentionIn(
    database,
    sql`select id from courses where id = ${courseId} and status = 'published'`,
    now,
  )
  return standingOf(
    await readSteps(database, scope),
    own?.attention ?? zeroAttention,
    gradesOf(figures),
    await readGradeSteps(database, scope),
  )
}

/** Only what a user sees. */
interface AcademyStanding {
  /** Each counted once even in several courses; null if counting them would take too long. */
  readonly learners: number | null
  readonly all: Standing
  readonly courses: readonly CourseAttention[]
}

export async function readAcademyStanding(seer: Asking, now: Date): Promise<AcademyStanding> {
  const { database } = seer
  const taught = taughtCourses(seer)
  const scope = { ...wholeAcademy, courses: taught }
  const published = sql`select id from courses where ${seenOnly(sql`status = 'published'`, taught && sql`id in (${taught})`)}`
  const courses = await readAttentionIn(database, published, now)
  const all = (kind: Attention) => sumOf(courses, ({ attention }) => attention[kind])
  const attention = { inactive: all('inactive'), stuck: all('stuck'), not_passed: all('not_passed') }
  const grades = taught
    ? gradesOf(await readCourseFigures(database, scope))
    : await readAcademyGrades(database)
  return {
    learners: taught ? await countLearnersOf(database, scope) : await countLearners(database, false),
    all: standingOf(
      await readSteps(database, scope),
      attention,
      grades,
      await readGradeSteps(database, scope),
    ),
    courses,
  }
}

/** By id; courses without learners are missing. */
export async function readStandings(
  database: Database,
  courseIds: readonly string[],
): Promise<ReadonlyMap<string, CourseStanding>> {
  if (courseIds.length === 0) return new Map()
  const courses = sql`${join(courseIds)}`
  const figures = Map.groupBy(
    await readCourseFigures(database, { ...wholeAcademy, courses }),
    ({ courseId }) => courseId,
  )
  return new Map([...figures].map(([courseId, own]) => [courseId, partsOf(own)]))
}

function standingOf(
  all: readonly StatusStep[],
  attention: Standing['attention'],
  { graded, grade, passed }: GradeFigures,
  gradeSteps: readonly Step[],
): Standing {
  return {
    ...partsOf(all.map(({ status, learners, amount }) => ({ status, learners, percentage: amount }))),
    tenths: tenthsOf(all.filter(({ status }) => status === 'in_progress')),
    medianCompletionPercentage: medianOf(all),
    averageGradePercent: average(grade, graded),
    medianGradePercent: medianOf(gradeSteps),
    passRate: graded === 0 ? null : (100 * passed) / graded,
    attention,
  }
}

function gradesOf(figures: readonly StatusFigures[]): GradeFigures {
  return {
    graded: sumOf(figures, ({ graded }) => graded),
    grade: sumOf(figures, ({ grade }) => grade),
    passed: sumOf(figures, ({ passed }) => passed),
  }
}

/** Null if they are too many. */
function countLearnersOf(database: Database, scope: Scope): Promise<number | null> {
  const conditions = [sql`c.id in (${scope.courses})`, sql`e.status <> 'deleted'`, sql`u.status <> 'deleted'`]
  return countDistinctLearners(database, scope, { tables: byCourse, conditions })
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

/** Counts the learners who need attention in courses that a statement selects, also where there are none. */
export async function readAttentionIn(
  database: Database,
  courses: Sql,
  now: Date,
): Promise<CourseAttention[]> {
  const titled = await database.all<Row & { id: string; title: string; external_id: string | null }>(
    sql`select id, title, external_id from courses where id in (${courses}) order by title, id`,
  )
  const attentionByCourse = new Map(
    (await readAttention(database, courses, dayNumber(recentSince(now, attentionDays)))).map((one) => [
      one.courseId,
      one,
    ]),
  )
  const figuresByCourse = Map.groupBy(
    await readCourseFigures(database, { ...wholeAcademy, courses }),
    ({ courseId }) => courseId,
  )
  return titled.map(({ id, title, external_id: courseExternalId }) => {
    const { unseen = 0, unrisen = 0 } = attentionByCourse.get(id) ?? {}
    const { graded, passed } = gradesOf(figuresByCourse.get(id) ?? [])
    return {
      courseId: id,
      courseTitle: title,
      courseExternalId,
      attention: { inactive: unseen, stuck: unrisen, not_passed: graded - passed },
    }
  })
}

function sumOf<One>(all: readonly One[], of: (one: One) => number): number {
  return all.reduce((sum, one) => sum + of(one), 0)
}

function average(amount: number, count: number): number | null {
  return count === 0 ? null : ofMillionths(amount) / count
}

/** Limits from which a learner needs attention. */
interface AttentionLimits {
  /** Calendar days (UTC) without access. */
  readonly inactiveDays: number
  /** Calendar days (UTC) without progress. */
  readonly stuckDays: number
  /** Percentage from which a learner is not stuck. */
  readonly stuckBelow: number
}

/** Those that counters use. */
const standardLimits: AttentionLimits = { inactiveDays: attentionDays, stuckDays: attentionDays, stuckBelow }

const dayMs = 24 * 60 * 60 * 1000

/** A learner whose last access is earlier is inactive. */
function recentSince(now: Date, days: number): string {
  const day = new Date(now.getTime() - (days - 1) * dayMs).toISOString().slice(0, 10)
  return `${day}T00:00:00.000Z`
}

/**
 * Returns the condition for each reason, in a query over enrolments in published courses (`c`, `e`, `p` and `g`). A
 * completed enrolment is neither inactive nor stuck; `not_passed` requires a grade, and like the pass rate any enrolment.
 */
export function attentionConditions(
  now: Date,
  { inactiveDays, stuckDays, stuckBelow }: AttentionLimits = standardLimits,
): Readonly<Record<Attention, Sql>> {
  const isOpen = sql`c.status = 'published' and e.status = 'active' and coalesce(p.status, '') <> 'completed'`
  return {
    inactive: sql`(${isOpen} and coalesce(p.last_accessed, e.enrolled_at) < ${recentSince(now, inactiveDays)})`,
    stuck: sql`(${isOpen} and p.status = 'in_progress' and p.percentage < ${stuckBelow} and p.risen_at < ${recentSince(now, stuckDays)})`,
    not_passed: sql`(c.status = 'published' and g.percent < ${passingScore})`,
  }
}
