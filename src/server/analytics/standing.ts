import sql, { join, raw, type Sql } from 'sql-template-tag'
import { type Attention, attentionDays, attentionKinds, stuckBelow } from '../../contract/constants.ts'
import { type Asking, seenOnly, taughtCourses } from '../access/sight.ts'
import type { Database, Row } from '../database/database.ts'
import { type Figures, medianOf, ofMillionths, readFigures, type StatusFigures, tenthsOf } from './figures.ts'
import { byCourse, passingScore, type Rows, rowsOf } from './rows.ts'

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
  const figures = await readFigures(database, rowsIn(sql`${courseId}`))
  const isOwn = sql`select id from courses where id = ${courseId} and status = 'published'`
  const [own] = await readAttentionIn(database, isOwn, now)
  return standingOf(figures, own?.attention ?? zeroAttention)
}

/** Learners who were not deleted, in all courses or those that a statement selects. */
function rowsIn(courses: Sql | undefined): Rows {
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
  readonly courses: readonly CourseAttention[]
}

export async function readAcademyStanding(seer: Asking, now: Date): Promise<AcademyStanding> {
  const { database } = seer
  const taught = taughtCourses(seer)
  const figures = await readFigures(database, rowsIn(taught))
  const published = sql`select id from courses where ${seenOnly(sql`status = 'published'`, taught && sql`id in (${taught})`)}`
  const courses = await readAttentionIn(database, published, now)
  const all = (kind: Attention) => sumOf(courses, ({ attention }) => attention[kind])
  const attention = { inactive: all('inactive'), stuck: all('stuck'), not_passed: all('not_passed') }
  return { learners: figures.learners, all: standingOf(figures, attention), courses }
}

/** By id; courses without learners are missing. */
export async function readStandings(
  database: Database,
  courseIds: readonly string[],
): Promise<ReadonlyMap<string, CourseStanding>> {
  if (courseIds.length === 0) return new Map()
  const { byStatus } = await readFigures(database, rowsIn(sql`${join(courseIds)}`))
  const byCourse = Map.groupBy(byStatus, ({ courseId }) => courseId)
  return new Map([...byCourse].map(([courseId, own]) => [courseId, partsOf(own)]))
}

/** Counts the learners of a course who were not deleted. */
export async function countLearners(database: Database, courseId: string): Promise<number> {
  const { tables, conditions } = rowsIn(sql`${courseId}`)
  const counted = await database.one<Row & { learners: number }>(
    sql`select count(*) as learners from ${rowsOf(tables, conditions)}`,
  )
  return counted?.learners ?? 0
}

function standingOf({ byStatus, steps, gradeSteps }: Figures, attention: Standing['attention']): Standing {
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
    attention,
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

/** Counts the learners who need attention in courses that a statement selects, also where there are none. */
export async function readAttentionIn(
  database: Database,
  courses: Sql,
  now: Date,
): Promise<CourseAttention[]> {
  const titled = await database.all<Row & { id: string; title: string; external_id: string | null }>(
    sql`select id, title, external_id from courses where id in (${courses}) order by title, id`,
  )
  const conditions = attentionConditions(now)
  const counts = attentionKinds.map(
    (kind) => sql`sum(case when ${conditions[kind]} then 1 else 0 end) as ${raw(kind)}`,
  )
  const { tables, conditions: own } = rowsIn(courses)
  const counted = await database.all<Row & Standing['attention'] & { id: string }>(
    sql`select c.id, ${join(counts)} from ${rowsOf(tables, own)} group by c.id`,
  )
  const attentionById = new Map(counted.map(({ id, ...attention }) => [id, attention]))
  return titled.map(({ id, title, external_id: courseExternalId }) => {
    const attention = attentionById.get(id) ?? zeroAttention
    return { courseId: id, courseTitle: title, courseExternalId, attention }
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

/** Those of the dashboard and of digests. */
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
