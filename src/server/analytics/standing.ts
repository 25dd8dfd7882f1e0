import sql, { join, raw, type Sql } from 'sql-template-tag'
import type { Database, Row } from '../database/database.ts'
import { type Attention, attentionConditions, attentionKinds } from './attention.ts'

/** How the learners of a course, or of all courses, stand; averages of nothing are null. */
export interface Standing {
  readonly enrollments: number
  readonly notStarted: number
  readonly inProgress: number
  readonly completed: number
  /** Of those in progress, how many are at 0–9%, 10–19% … 90–99%. */
  readonly tenths: readonly number[]
  readonly averageCompletionPercentage: number | null
  readonly averageGradePercent: number | null
  readonly attention: Readonly<Record<Attention, number>>
}

/** How the learners of one course stand. */
export interface CourseStanding extends Standing {
  readonly courseId: string
  readonly courseTitle: string
}

/** Sums over enrolments: one row for each course. */
interface Sums extends Row {
  readonly courseId: string
  readonly courseTitle: string
  readonly enrollments: number
  readonly notStarted: number
  readonly inProgress: number
  readonly completed: number
  readonly percentage: number
  readonly grades: number
  readonly grade: number
}

/** Learners' enrolments, course by course: what is asked of one course is found by an index. */
export const byCourse = sql`courses c
  cross join enrollments e on e.course_id = c.id and e.role = 'learner'
  cross join users u on u.id = e.user_id and u.status <> 'deleted'
  left join progress p on p.user_id = u.id and p.course_id = c.id
  left join course_grades g on g.user_id = u.id and g.course_id = c.id`

const tenthNames = Array.from({ length: 10 }, (_, tenth) => `tenth${tenth}`)

/** How the learners of one course stand, each of them counted once. */
export function standingOfCourse(database: Database, courseId: string, now: Date): Standing {
  return summed(database.all<Sums>(sums(sql`where c.id = ${courseId}`, now)))
}

/** How all learners stand, course by course and together; learners in several courses are counted once. */
export function standingOfAcademy(
  database: Database,
  now: Date,
): { readonly learners: number; readonly all: Standing; readonly byCourse: readonly CourseStanding[] } {
  const rows = database.all<Sums>(sums(sql`where true`, now))
  const counted = database.one<Row & { learners: number }>(sql`
    select count(*) as learners from users u where u.status <> 'deleted'
      and exists (select 1 from enrollments e where e.user_id = u.id and e.role = 'learner')`)
  return {
    learners: counted?.learners ?? 0,
    all: summed(rows),
    byCourse: rows.map((row) => ({
      courseId: row.courseId,
      courseTitle: row.courseTitle,
      ...summed([row]),
    })),
  }
}

/** The percentage in the middle of a course's learners, or null where it has none. */
export function medianOfCourse(database: Database, courseId: string, enrollments: number): number | null {
  if (enrollments === 0) return null
  const middle = database.one<Row & { median: number }>(sql`
    select avg(percentage) as median from (
      select coalesce(p.percentage, 0) as percentage from ${byCourse} where c.id = ${courseId}
      order by 1 limit ${2 - (enrollments % 2)} offset ${Math.floor((enrollments - 1) / 2)})`)
  return middle?.median ?? null
}

function sums(where: Sql, now: Date): Sql {
  const conditions = attentionConditions(now)
  const status = sql`coalesce(p.status, 'not_started')`
  const counts = [
    ...tenthNames.map(
      (name, tenth) =>
        sql`sum(${status} = 'in_progress' and min(9, cast(p.percentage / 10 as integer)) = ${tenth}) as ${raw(name)}`,
    ),
    ...attentionKinds.map((kind) => sql`sum(${conditions[kind]}) as ${raw(kind)}`),
  ]
  return sql`
    select c.id as courseId, c.title as courseTitle, count(*) as enrollments,
      sum(${status} = 'not_started') as notStarted, sum(${status} = 'in_progress') as inProgress,
      sum(${status} = 'completed') as completed, sum(coalesce(p.percentage, 0)) as percentage,
      count(g.percent) as grades, coalesce(sum(g.percent), 0) as grade, ${join(counts)}
    from ${byCourse} ${where} group by c.id`
}

function summed(rows: readonly Sums[]): Standing {
  const total = (name: string) => rows.reduce((sum, row) => sum + Number(row[name] ?? 0), 0)
  const enrollments = total('enrollments')
  return {
    enrollments,
    notStarted: total('notStarted'),
    inProgress: total('inProgress'),
    completed: total('completed'),
    tenths: tenthNames.map(total),
    averageCompletionPercentage: average(total('percentage'), enrollments),
    averageGradePercent: average(total('grade'), total('grades')),
    attention: {
      inactive: total('inactive'),
      stuck: total('stuck'),
      not_passed: total('not_passed'),
    },
  }
}

function average(total: number, count: number): number | null {
  return count === 0 ? null : total / count
}
