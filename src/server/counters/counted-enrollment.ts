import sql, { raw, type Sql } from 'sql-template-tag'
import type { Database, Row } from '../database/database.ts'
import { isOf } from '../database/reference.ts'

/** A learner's enrolment with all that is counted of it. Whoever has no progress yet stands at `none`, at 0%. */
export interface CountedEnrollment {
  readonly userId: string
  readonly courseId: string
  /** Of a deleted user. */
  readonly gone: boolean
  /** The status of the enrolment. */
  readonly enrollment: string
  readonly status: string
  readonly percentage: number
  /** When the learner was last there, or else was enrolled; ISO 8601 in UTC. */
  readonly lastSeen: string
  /** When the percentage last rose, or null before the first progress. */
  readonly risenAt: string | null
  /** The grade in per cent. */
  readonly grade: number | null
  /** The grade from which the course is passed, in per cent. */
  readonly passingScore: number
  /** Whether the user learns in no other course; needed where they begin or end to learn in this one. */
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

const passingScore = sql`cast(c.attributes -> 'assessmentCriteria' ->> 'passingScore' as double precision)`

/** Whether an enrolment is a learner's. Nearly all are: an index of roles would be no way to find any. */
export function isLearners(alias: 'e' | 'o'): Sql {
  return sql`case when ${raw(alias)}.role = 'learner' then 1 else 0 end = 1`
}

/** Whether an enrolment is a learner's and was not removed, so that it counts. */
export function learns(alias: 'e' | 'o'): Sql {
  const enrollment = raw(alias)
  return sql`case when ${enrollment}.role = 'learner' and ${enrollment}.status <> 'deleted' then 1 else 0 end = 1`
}

/** How a learner stands in each of their courses; or in one, even where the enrolment is deleted. */
export async function countedOf(
  database: Database,
  userId: string,
  courseId?: string,
): Promise<CountedEnrollment[]> {
  // With all three columns of the unique index: SQLite would read all enrolments of the course for two of them.
  const only = courseId === undefined ? learns('e') : sql`e.course_id = ${courseId} and e.role = 'learner'`
  return (
    await database.all<CountedRow & { passing_score: number; others: number }>(sql`
      select ${columns}, ${passingScore} as passing_score, case when exists (
        select 1 from enrollments o where o.user_id = e.user_id and ${learns('o')} and o.course_id <> e.course_id
      ) then 1 else 0 end as others
      from ${tables} join courses c on c.id = e.course_id
      where e.user_id = ${userId} and ${only}`)
  ).map((row) => ({ ...toCounted(row, row.passing_score), isOnly: row.others === 0 }))
}

/** The progress behind an enrolment, as its row holds it. */
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

/** How a user stands in a course: as it is counted, but for the course's own passing score, and their progress. */
export interface Standing {
  readonly counted: Omit<CountedEnrollment, 'passingScore'>
  readonly progress: ProgressBehind | undefined
}

/** How an active user stands in the course that a reference names, in one statement; undefined where they are no learner of it. */
export async function standingIn(
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

/** Which courses: those whose ids are not before the first of these, and before the second; all where they are left out. */
export type CourseRange = readonly [least: string, below?: string]

/** All learners' enrolments in a range of courses, user by user, some of them at a time. */
export async function* everyCounted(
  database: Database,
  [least, below]: CourseRange = [''],
  atOnce = 5_000,
): AsyncGenerator<CountedEnrollment[]> {
  const passingScores = await passingScoresOf(database)
  const end = below === undefined ? sql`true` : sql`e.course_id < ${below}`
  const range = sql`case when e.course_id >= ${least} and ${end} then 1 else 0 end = 1`
  for (let after = sql`true`; ; ) {
    const rows = await database.all<CountedRow>(sql`
      select ${columns} from ${tables} where ${learns('e')} and ${range} and ${after}
      order by e.user_id, e.course_id limit ${atOnce}`)
    yield rows.map((row) => toCounted(row, passingScores.get(row.course_id) ?? 0))
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

/** Where an enrolment stands among those of its course: when it was made, and its id. */
export type EnrollmentPlace = readonly [createdAt: string, id: string]

/** A learner's enrolment on the way through those of a course. */
interface WalkedInCourse extends CountedEnrollment, Pick<ProgressBehind, 'completedAt'> {
  readonly place: EnrollmentPlace
}

/** All learners' enrolments in one course, with when they completed it, some of them at a time; only those after a place, where that is given. */
export async function* countedIn(
  database: Database,
  courseId: string,
  atOnce = 5_000,
  from?: EnrollmentPlace,
): AsyncGenerator<WalkedInCourse[], undefined> {
  const course = await database.one<Row & { passing_score: number }>(
    sql`select ${passingScore} as passing_score from courses c where c.id = ${courseId}`,
  )
  for (let after = from ? behind(from) : sql`true`; ; ) {
    const rows = await database.all<InCourseRow>(sql`
      select ${columns}, p.completed_at, e.created_at, e.id from ${tables}
      where e.course_id = ${courseId} and ${learns('e')} and ${after}
      order by e.created_at, e.id limit ${atOnce}`)
    yield rows.map((row) => ({
      completedAt: row.completed_at,
      place: [row.created_at, row.id],
      ...toCounted(row, course?.passing_score ?? 0),
    }))
    const last = rows[atOnce - 1]
    if (!last) return
    after = behind([last.created_at, last.id])
  }
}

function behind([createdAt, id]: EnrollmentPlace): Sql {
  return sql`(e.created_at, e.id) > (${createdAt}, ${id})`
}

/** The passing scores of all courses, by their ids. */
async function passingScoresOf(database: Database): Promise<ReadonlyMap<string, number>> {
  const rows = await database.all<Row & { id: string; passing_score: number }>(
    sql`select c.id, ${passingScore} as passing_score from courses c`,
  )
  return new Map(rows.map((row) => [row.id, row.passing_score]))
}

/** Counts the active learners of a course whose grade is between two, in per cent. */
export function gradedBetween(courseId: string, least: number, below: number): Sql {
  return sql`
    select count(*) as learners from course_grades g
    join users u on u.id = g.user_id and u.status <> 'deleted'
    join enrollments e on e.user_id = g.user_id and e.course_id = g.course_id and e.role = 'learner'
      and e.status = 'active'
    where g.course_id = ${courseId} and g.percent >= ${least} and g.percent < ${below}`
}

/** What is counted of an enrolment, from its row. */
export function toCounted(row: CountedRow, passingScore: number): CountedEnrollment {
  return { ...standingOf(row), passingScore }
}

function standingOf(row: CountedRow): Omit<CountedEnrollment, 'passingScore'> {
  return {
    userId: row.user_id,
    courseId: row.course_id,
    gone: row.user_status === 'deleted',
    enrollment: row.enrollment,
    status: row.status ?? 'none',
    percentage: row.percentage ?? 0,
    lastSeen: row.last_seen,
    risenAt: row.risen_at,
    grade: row.grade,
  }
}
