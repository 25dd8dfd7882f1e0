import sql, { join, type Sql } from 'sql-template-tag'
import { type Asking, seenOnly, taughtCourses } from '../access/sight.ts'
import {
  countLearners,
  medianOf,
  readAcademyGrades,
  readAttention,
  readCourseFigures,
  readSteps,
  type Scope,
  type StatusFigures,
  type Step,
  tenthsOf,
  wholeAcademy,
} from '../counters/standings.ts'
import { dayNumber, ofMillionths, stuckBelow } from '../counters/tally.ts'
import type { Database, Row } from '../database/database.ts'
import { byCourse } from './rows.ts'
import { countDistinctLearners } from './summary.ts'

/** Progress figures of the learners of a course, or of all courses; the average of no values is null. */
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
  readonly attention: Readonly<Record<Attention, number>>
}

/** Learners of one course who need attention. */
export interface CourseAttention {
  readonly courseId: string
  readonly courseTitle: string
  readonly courseExternalId: string | null
  readonly attention: Standing['attention']
}

/** Progress figures of one course for lists. */
type CourseStanding = Pick<
  Standing,
  'enrollments' | 'notStarted' | 'inProgress' | 'completed' | 'averageCompletionPercentage'
>

const zeroAttention: Standing['attention'] = { inactive: 0, stuck: 0, not_passed: 0 }

/** Reads the figures of one course, each learner counted once. */
export async function readCourseStanding(database: Database, courseId: string, now: Date): Promise<Standing> {
  const scope = { ...wholeAcademy, courses: sql`${courseId}` }
  const figures = await readCourseFigures(database, scope)
  const [own] = await readAttentionIn(
    database,
    sql`select id from courses where id = ${courseId} and status = 'published'`,
    now,
  )
  return standingOf(await readSteps(database, scope), own?.attention ?? zeroAttention, gradesOf(figures))
}

/** The figures of all learners that a user sees, and the courses where they need attention. */
interface AcademyStanding {
  /** Number of learners, each counted once even in several courses; null if counting them would take too long. */
  readonly learners: number | null
  readonly all: Standing
  readonly courses: readonly CourseAttention[]
}

/** Reads the figures of all courses that a user sees. */
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
    all: standingOf(await readSteps(database, scope), attention, grades),
    courses,
  }
}

/** Reads the progress figures of some courses, by id; courses without learners are missing. */
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
  all: readonly Step[],
  attention: Standing['attention'],
  { learners: graded, amount: grade }: { readonly learners: number; readonly amount: number },
): Standing {
  return {
    ...partsOf(all.map(({ status, learners, amount }) => ({ status, learners, percentage: amount }))),
    tenths: tenthsOf(all.filter(({ status }) => status === 'in_progress')),
    medianCompletionPercentage: medianOf(all),
    averageGradePercent: average(grade, graded),
    attention,
  }
}

function gradesOf(figures: readonly StatusFigures[]) {
  return {
    learners: sumOf(figures, ({ graded }) => graded),
    amount: sumOf(figures, ({ grade }) => grade),
  }
}

/** Counts the distinct learners of some courses; null if they are too many. */
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
    notStarted: counted('none', 'not_started'),
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
    (await readAttention(database, courses, dayNumber(recentSince(now)))).map((one) => [one.courseId, one]),
  )
  return titled.map(({ id, title, external_id: courseExternalId }) => {
    const { unseen = 0, unrisen = 0, failed = 0 } = attentionByCourse.get(id) ?? {}
    return {
      courseId: id,
      courseTitle: title,
      courseExternalId,
      attention: { inactive: unseen, stuck: unrisen, not_passed: failed },
    }
  })
}

function sumOf<One>(all: readonly One[], of: (one: One) => number): number {
  return all.reduce((sum, one) => sum + of(one), 0)
}

function average(amount: number, count: number): number | null {
  return count === 0 ? null : ofMillionths(amount) / count
}

/** Reasons why a learner may need help, in display order. */
export const attentionKinds = ['inactive', 'stuck', 'not_passed'] as const
export type Attention = (typeof attentionKinds)[number]

/** Calendar days (UTC) without access or progress after which a learner needs attention. */
export const inactiveDays = 14
export { stuckBelow }

const dayMs = 24 * 60 * 60 * 1000

/** Returns the start of the first recent day: a learner whose last access is earlier is inactive. */
function recentSince(now: Date): string {
  const day = new Date(now.getTime() - (inactiveDays - 1) * dayMs).toISOString().slice(0, 10)
  return `${day}T00:00:00.000Z`
}

/**
 * Returns the condition for each reason, in a query over enrolments in published courses (`c`, `e`, `p` and `g`). A
 * completed enrolment is neither inactive nor stuck; `not_passed` requires a grade.
 */
export function attentionConditions(now: Date): Readonly<Record<Attention, Sql>> {
  const since = recentSince(now)
  const isOpen = sql`c.status = 'published' and e.status = 'active' and coalesce(p.status, '') <> 'completed'`
  return {
    inactive: sql`(${isOpen} and coalesce(p.last_accessed, e.enrolled_at) < ${since})`,
    stuck: sql`(${isOpen} and p.status = 'in_progress' and p.percentage < ${stuckBelow} and p.risen_at < ${since})`,
    not_passed: sql`(c.status = 'published' and e.status = 'active' and g.percent <
      cast(c.attributes -> 'assessmentCriteria' ->> 'passingScore' as double precision))`,
  }
}
