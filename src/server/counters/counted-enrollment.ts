import sql, { raw, type Sql } from 'sql-template-tag'
import type { Enrollment } from '../../contract/enrollments.ts'
import type { Database, Row } from '../database/database.ts'
import { isOf } from '../database/reference.ts'

/** All fields that counters depend on. Without progress, the status is `none` at 0%. */
export interface CountedEnrollment {
  readonly userId: string
  readonly courseId: string
  readonly isUserDeleted: boolean
  readonly enrollment: string
  readonly status: string
  readonly percentage: number
  /** Last access, else the enrolment; ISO 8601 in UTC. */
  readonly lastSeen: string
  /** When the percentage last rose; null before the first progress. */
  readonly risenAt: string | null
  readonly grade: number | null
  /** In per cent. */
  readonly passingScore: number
  /** The user has no other one; needed if it is added or removed. */
  readonly isOnly?: boolean
}

interface CountedRow extends Row {
  readonly user_id: string
  readonly course_id: string
  readonly user_status: string
  readonly enrollment: string
  readonly status: string | null
  readonly percentage: number | null
  readonly last_seen: string
  readonly risen_at: string | null
  readonly grade: number | null
}

const columns = sql`e.user_id, e.course_id, u.status as user_status, e.status as enrollment, p.status, p.percentage,
  coalesce(p.last_accessed, e.enrolled_at) as last_seen, p.risen_at, g.percent as grade`

const tables = sql`enrollments e
  join users u on u.id = e.user_id
  left join progress p on p.user_id = e.user_id and p.course_id = e.course_id
  left join course_grades g on g.user_id = e.user_id and g.course_id = e.course_id`

/** Of the course `c`, in per cent. */
export const passingScore = sql`cast(c.attributes -> 'assessmentCriteria' ->> 'passingScore' as double precision)`

/** The `case` keeps the planner from an index by role, which nearly all match. */
export function isLearnerEnrollment(alias: 'e' | 'o'): Sql {
  return sql`case when ${raw(alias)}.role = 'learner' then 1 else 0 end = 1`
}

export function countsAsLearner(alias: 'e' | 'o'): Sql {
  const enrollment = raw(alias)
  return sql`case when ${enrollment}.role = 'learner' and ${enrollment}.status <> 'deleted' then 1 else 0 end = 1`
}

/** With `courseId` that one, even if deleted. */
export async function readUserEnrollments(
  database: Database,
  userId: string,
  courseId?: string,
): Promise<CountedEnrollment[]> {
  // All three columns of the unique index: with two, SQLite would read all enrolments of the course.
  const only =
    courseId === undefined ? countsAsLearner('e') : sql`e.course_id = ${courseId} and e.role = 'learner'`
  return (
    await database.all<CountedRow & { passing_score: number; others: number }>(sql`
      select ${columns}, ${passingScore} as passing_score, case when exists (
        select 1 from enrollments o where o.user_id = e.user_id and ${countsAsLearner('o')} and o.course_id <> e.course_id
      ) then 1 else 0 end as others
      from ${tables} join courses c on c.id = e.course_id
      where e.user_id = ${userId} and ${only}`)
  ).map((row) => ({ ...toCountedEnrollment(row, row.passing_score), isOnly: row.others === 0 }))
}

/** Of an enrolment that was just created, without progress or grades. */
export async function newStanding(
  database: Database,
  { userId, courseId, status, enrolledAt }: Pick<Enrollment, 'userId' | 'courseId' | 'status' | 'enrolledAt'>,
): Promise<CountedEnrollment> {
  const other = await database.one(sql`
    select 1 from enrollments o where o.user_id = ${userId} and ${countsAsLearner('o')} and o.course_id <> ${courseId} limit 1`)
  return {
    ...{ userId, courseId, isUserDeleted: false, enrollment: status, status: 'none', percentage: 0 },
    ...{ lastSeen: enrolledAt, risenAt: null, grade: null, passingScore: 0, isOnly: other === undefined },
  }
}

export interface ProgressBehind {
  readonly startedAt: string | null
  readonly lastAccessed: string
  readonly completedAt: string | null
  readonly version: number
  readonly updatedAt: string
}

interface OneRow extends CountedRow {
  readonly started_at: string | null
  readonly last_accessed: string | null
  readonly completed_at: string | null
  readonly version: number
  readonly updated_at: string
}

/** Without the course's passing score. */
export interface Standing {
  readonly counted: Omit<CountedEnrollment, 'passingScore'>
  readonly progress: ProgressBehind | undefined
}

/** Of an active user, in one statement; undefined if not a learner of the course. */
export async function readStanding(
  database: Database,
  userId: string,
  course: string,
): Promise<Standing | undefined> {
  const row = await database.one<OneRow>(sql`
    select e.user_id, e.course_id, 'active' as user_status, e.status as enrollment, p.status, p.percentage,
      coalesce(p.last_accessed, e.enrolled_at) as last_seen, p.risen_at, g.percent as grade,
      p.started_at, p.last_accessed, p.completed_at, p.version, p.updated_at
    from enrollments e
    left join progress p on p.user_id = e.user_id and p.course_id = e.course_id
    left join course_grades g on g.user_id = e.user_id and g.course_id = e.course_id
    where e.user_id = ${userId} and ${isOf(sql`e.course_id`, 'courses', course)} and e.role = 'learner'`)
  if (!row) return undefined
  const { started_at: startedAt, last_accessed: lastAccessed, completed_at: completedAt, version } = row
  return {
    counted: standingOf(row),
    progress:
      lastAccessed === null
        ? undefined
        : { startedAt, lastAccessed, completedAt, version, updatedAt: row.updated_at },
  }
}

/** From the first, before the second. */
export type CourseRange = readonly [least: string, below?: string]

/** In batches, by user. */
export async function* readEnrollments(
  database: Database,
  [least, below]: CourseRange = [''],
  atOnce = 5_000,
): AsyncGenerator<CountedEnrollment[]> {
  const passingScores = await passingScoresOf(database)
  const end = below === undefined ? sql`true` : sql`e.course_id < ${below}`
  const range = sql`case when e.course_id >= ${least} and ${end} then 1 else 0 end = 1`
  for (let after = sql`true`; ; ) {
    const rows = await database.all<CountedRow>(sql`
      select ${columns} from ${tables} where ${countsAsLearner('e')} and ${range} and ${after}
      order by e.user_id, e.course_id limit ${atOnce}`)
    yield rows.map((row) => toCountedEnrollment(row, passingScores.get(row.course_id) ?? 0))
    const last = rows[atOnce - 1]
    if (!last) return
    after = sql`(e.user_id, e.course_id) > (${last.user_id}, ${last.course_id})`
  }
}

interface InCourseRow extends CountedRow {
  readonly completed_at: string | null
  readonly created_at: string
  readonly id: string
}

export type EnrollmentPlace = readonly [createdAt: string, id: string]

interface WalkedInCourse extends CountedEnrollment, Pick<ProgressBehind, 'completedAt'> {
  readonly place: EnrollmentPlace
}

/** In batches, optionally after a place. */
export async function* readCourseEnrollments(
  database: Database,
  courseId: string,
  atOnce = 5_000,
  from?: EnrollmentPlace,
): AsyncGenerator<WalkedInCourse[], undefined> {
  const course = await database.one<Row & { passing_score: number }>(
    sql`select ${passingScore} as passing_score from courses c where c.id = ${courseId}`,
  )
  for (let after = from ? isAfter(from) : sql`true`; ; ) {
    const rows = await database.all<InCourseRow>(sql`
      select ${columns}, p.completed_at, e.created_at, e.id from ${tables}
      where e.course_id = ${courseId} and ${countsAsLearner('e')} and ${after}
      order by e.created_at, e.id limit ${atOnce}`)
    yield rows.map((row) => ({
      completedAt: row.completed_at,
      place: [row.created_at, row.id],
      ...toCountedEnrollment(row, course?.passing_score ?? 0),
    }))
    const last = rows[atOnce - 1]
    if (!last) return
    after = isAfter([last.created_at, last.id])
  }
}

function isAfter([createdAt, id]: EnrollmentPlace): Sql {
  return sql`(e.created_at, e.id) > (${createdAt}, ${id})`
}

async function passingScoresOf(database: Database): Promise<ReadonlyMap<string, number>> {
  const rows = await database.all<Row & { id: string; passing_score: number }>(
    sql`select c.id, ${passingScore} as passing_score from courses c`,
  )
  return new Map(rows.map((row) => [row.id, row.passing_score]))
}

/** Number of learners of a course by what counters distinguish. */
export interface GradedCount extends Row {
  readonly status: string
  readonly user_status: string
  readonly enrollment: string
  readonly learners: number
}

/** From `least`, below `below`, in per cent; by status. */
export function gradedBetween(courseId: string, least: number, below: number): Sql {
  return sql`
    select coalesce(p.status, 'none') as status, u.status as user_status, e.status as enrollment, count(*) as learners
    from course_grades g
    join users u on u.id = g.user_id
    join enrollments e on e.user_id = g.user_id and e.course_id = g.course_id and e.role = 'learner'
      and e.status <> 'deleted'
    left join progress p on p.user_id = g.user_id and p.course_id = g.course_id
    where g.course_id = ${courseId} and g.percent >= ${least} and g.percent < ${below}
    group by 1, 2, 3`
}

export function toCountedEnrollment(row: CountedRow, passingScore: number): CountedEnrollment {
  return { ...standingOf(row), passingScore }
}

function standingOf(row: CountedRow): Omit<CountedEnrollment, 'passingScore'> {
  return {
    userId: row.user_id,
    courseId: row.course_id,
    isUserDeleted: row.user_status === 'deleted',
    enrollment: row.enrollment,
    status: row.status ?? 'none',
    percentage: row.percentage ?? 0,
    lastSeen: row.last_seen,
    risenAt: row.risen_at,
    grade: row.grade,
  }
}
