import sql from 'sql-template-tag'
import type { Enrollment, EnrollmentInput } from '../../contract/enrollments.ts'
import type { Row } from '../database/database.ts'
import { isReferred } from '../database/reference.ts'
import type { Call } from '../http/handler.ts'
import { parentNotFound } from '../problem/problem-error.ts'

/** A course, and whether it is open. */
interface ParentCourse extends Row {
  readonly id: string
  readonly title: string
  readonly external_id: string | null
  readonly status: string
}

interface ParentUser extends Row {
  readonly id: string
  readonly email: string
  readonly external_id: string | null
}

/** What an enrolment shows of its course and its user. */
type Shown = Pick<
  Enrollment,
  'courseId' | 'courseTitle' | 'courseExternalId' | 'userId' | 'userEmail' | 'userExternalId'
>

/** The course and the user that are named; throws 404 with the place of the one that is unknown. */
export async function requireParents(
  { database }: Call,
  { courseId, userId }: EnrollmentInput,
): Promise<{ course: ParentCourse; shown: Shown }> {
  const [course, user] = await Promise.all([
    database.one<ParentCourse>(
      sql`select id, title, external_id, status from courses where ${isReferred('courses', courseId)}`,
    ),
    database.one<ParentUser>(
      sql`select id, email, external_id from users where ${isReferred('users', userId)}`,
    ),
  ])
  if (!course) throw parentNotFound('#/courseId', 'course', courseId)
  if (!user) throw parentNotFound('#/userId', 'user', userId)
  const shown = {
    courseId: course.id,
    courseTitle: course.title,
    courseExternalId: course.external_id,
    userId: user.id,
    userEmail: user.email,
    userExternalId: user.external_id,
  }
  return { course, shown }
}
