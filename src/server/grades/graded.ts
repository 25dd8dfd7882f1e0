import sql from 'sql-template-tag'
import type { Course } from '../../contract/courses.ts'
import type { Grade, GradeInput } from '../../contract/grades.ts'
import { type CountedEnrollment, toCounted } from '../counters/counted-enrollment.ts'
import {
  type CourseRow,
  courseColumns,
  findCourse,
  requireNotArchived,
  toCourse,
} from '../courses/course-row.ts'
import type { Database } from '../database/database.ts'
import { isOf } from '../database/reference.ts'
import type { Call } from '../http/handler.ts'
import { ProblemError, parentNotFound } from '../problem/problem-error.ts'
import { findUser, type UserRow } from '../users/user-row.ts'
import { type GradeRow, scoreOf, toGrade } from './grade-row.ts'

/** Whom a grade is of, as the grade tells it. */
type Learner = Pick<UserRow, 'id' | 'status' | 'email' | 'external_id'>

/** A grade behind its references, and the one that is stored under the same learner, course, source and item. */
export interface Graded {
  readonly learner: Learner
  readonly course: Course
  readonly before: Grade | undefined
  /** How the learner stands in the course before this grade. */
  readonly standing: CountedEnrollment
  /** When they completed its content, ISO 8601 in UTC. */
  readonly completedAt: string | null
}

/** What keeps the name that it has in the row of a grade. */
type GradedParts = Pick<
  GradeRow,
  | 'user_id'
  | 'user_external_id'
  | 'label'
  | 'score_given'
  | 'score_maximum'
  | 'weight'
  | 'published'
  | 'graded_at'
  | 'delivery_id'
>

/** An enrolment with its course, whose columns keep their names, and with all that a grade changes. */
interface GradedRow extends CourseRow, GradedParts {
  readonly user_status: string
  readonly email: string
  readonly enrollment: string
  readonly progress_status: string | null
  readonly percentage: number | null
  readonly last_seen: string
  readonly risen_at: string | null
  readonly completed_at: string | null
  readonly course_percent: number | null
  readonly grade_id: string | null
  readonly grade_version: number
  readonly grade_created_at: string
  readonly grade_updated_at: string
}

/**
 * Finds what a grade is about. Throws 404 with the place of an unknown learner or course, and 409 where the course is archived,
 * or the learner is not in it.
 *
 * @param guard is handed the learner before anything else is looked at, and may throw
 */
export async function gradedBy(
  { database }: Pick<Call, 'database'>,
  input: GradeInput,
  guard: (learner: Pick<UserRow, 'id' | 'status'>) => void = () => {},
): Promise<Graded> {
  const row = await gradedRow(database, input)
  if (!row) return refuse(database, input, guard)
  const learner = {
    id: row.user_id,
    status: row.user_status,
    email: row.email,
    external_id: row.user_external_id,
  }
  guard(learner)
  requireNotArchived(row)
  const course = toCourse(row)
  return {
    learner,
    course,
    before: storedIn(row, input),
    standing: toCounted(
      { ...row, course_id: row.id, status: row.progress_status, grade: row.course_percent },
      course.assessmentCriteria.passingScore,
    ),
    completedAt: row.completed_at,
  }
}

function gradedRow(database: Database, input: GradeInput): Promise<GradedRow | undefined> {
  return database.one<GradedRow>(sql`
    select ${courseColumns}, e.user_id, u.status as user_status, u.email, u.external_id as user_external_id,
      e.status as enrollment, p.status as progress_status, p.percentage,
      coalesce(p.last_accessed, e.enrolled_at) as last_seen, p.risen_at, p.completed_at,
      cg.percent as course_percent, g.id as grade_id, g.label, ${scoreOf('g')}, g.score_maximum, g.weight, g.published,
      g.graded_at, g.delivery_id, g.version as grade_version, g.created_at as grade_created_at,
      g.updated_at as grade_updated_at
    from enrollments e
    join users u on u.id = e.user_id
    join courses c on c.id = e.course_id
    left join progress p on p.user_id = e.user_id and p.course_id = e.course_id
    left join course_grades cg on cg.user_id = e.user_id and cg.course_id = e.course_id
    left join grades g on g.user_id = e.user_id and g.course_id = e.course_id and g.source = ${input.source}
      and g.item_id = ${input.itemId}
    where ${isOf(sql`e.user_id`, 'users', input.learnerId)} and ${isOf(sql`e.course_id`, 'courses', input.courseId)}
      and e.role = 'learner' and e.status in ('active', 'completed')`)
}

/** Tells why there is no such enrolment. */
async function refuse(
  database: Database,
  { learnerId, courseId }: GradeInput,
  guard: (learner: UserRow) => void,
): Promise<never> {
  const missing = (pointer: string, noun: string, reference: string) => (error: unknown) => {
    throw error instanceof ProblemError && error.status === 404
      ? parentNotFound(pointer, noun, reference)
      : error
  }
  const [user, row] = await Promise.all([
    findUser(database, learnerId).catch(missing('#/learnerId', 'user', learnerId)),
    findCourse(database, courseId).catch(missing('#/courseId', 'course', courseId)),
  ])
  guard(user)
  requireNotArchived(row)
  throw notEnrolled(user.id, row.id)
}

/** Throws 409 `enrollment_inactive` unless a user learns in a course. */
export async function requireLearner(database: Database, userId: string, courseId: string): Promise<void> {
  const enrolled = await database.one(sql`
    select 1 from enrollments
    where user_id = ${userId} and course_id = ${courseId} and role = 'learner' and status in ('active', 'completed')`)
  if (!enrolled) throw notEnrolled(userId, courseId)
}

function notEnrolled(userId: string, courseId: string): ProblemError {
  const detail = `User ${userId} is not enrolled in course ${courseId} as a learner, or the enrolment is inactive.`
  return new ProblemError('enrollment_inactive', detail)
}

function storedIn(row: GradedRow, { source, itemId }: GradeInput): Grade | undefined {
  if (row.grade_id === null) return undefined
  return toGrade({
    ...row,
    id: row.grade_id,
    user_email: row.email,
    course_id: row.id,
    course_title: row.title,
    course_external_id: row.external_id,
    item_id: itemId,
    source,
    version: row.grade_version,
    created_at: row.grade_created_at,
    updated_at: row.grade_updated_at,
  })
}
