import sql from 'sql-template-tag'
import { calls } from '../../contract/calls.ts'
import type { Course } from '../../contract/courses.ts'
import type { Enrollment } from '../../contract/enrollments.ts'
import type { User } from '../../contract/users.ts'
import type { Change } from '../changes/change.ts'
import type { Writing } from '../changes/writing.ts'
import { recordReader } from '../database/record.ts'
import type { LearnerState } from './learner-state.ts'
import { learnerCourseColumns } from './progress-row.ts'

/** From `enrollments e`. */
export const enrollmentColumns = sql`e.id, ${learnerCourseColumns('e')},
  e.role, e.status, e.enrolled_at, e.completed_at, e.source, e.managed_by, e.version, e.created_at, e.updated_at`

export const toEnrollment = recordReader<Enrollment>(calls.enrollments.get)

export function firstEnrollment(id: string, learner: User, course: Course, now: string): Enrollment {
  return {
    id,
    courseId: course.id,
    courseTitle: course.title,
    courseExternalId: course.externalId,
    userId: learner.id,
    userEmail: learner.email,
    userExternalId: learner.externalId,
    role: 'learner',
    status: 'active',
    enrolledAt: now,
    completedAt: null,
    source: 'progress',
    managedBy: null,
    version: 1,
    createdAt: now,
    updatedAt: now,
  }
}

/**
 * Completes an active enrolment once `moveOn` is met (cmi5 §10.2.3); it is never reopened. `state` has the current grade. Returns
 * the changes that the caller must record.
 */
export async function completeEnrollment(
  { database, now }: Writing,
  { assessmentCriteria: { moveOn, passingScore } }: Course,
  state: Pick<LearnerState, 'userId' | 'courseId' | 'grade' | 'enrollment'>,
  completedAt: string | null,
): Promise<readonly Change[]> {
  const { userId, courseId, grade } = state
  const passed = grade !== null && grade >= passingScore
  const isMet = {
    NotApplicable: false,
    Completed: Boolean(completedAt),
    Passed: passed,
    CompletedAndPassed: Boolean(completedAt) && passed,
    CompletedOrPassed: Boolean(completedAt) || passed,
  }[moveOn]
  const row =
    isMet && state.enrollment === 'active'
      ? await database.one(sql`
          select ${enrollmentColumns} from enrollments e
          where e.user_id = ${userId} and e.course_id = ${courseId} and e.role = 'learner' and e.status = 'active'`)
      : undefined
  if (!row) return []
  const before = toEnrollment(row)
  const after = {
    ...before,
    status: 'completed',
    completedAt: before.completedAt ?? completedAt ?? now,
    version: before.version + 1,
    updatedAt: now,
  }
  await database.run(sql`
    update enrollments set
      status = ${after.status}, completed_at = ${after.completedAt}, version = ${after.version}, updated_at = ${now}
    where id = ${before.id} and version = ${before.version}`)
  return [{ action: 'enrollment.completed', id: before.id, before, after }]
}
