import sql from 'sql-template-tag'
import type { Course } from '../../contract/courses.ts'
import type { Call } from '../http/handler.ts'

/** What a learner has of a course: when they completed it, and the grade in per cent; null for what there is not. */
export interface Attainment {
  readonly completedAt: string | null
  readonly grade: number | null
}

/**
 * Makes an active enrolment completed once the course's `moveOn` is met (cmi5 §10.2.3); it stays so. True where it became
 * so.
 */
export async function completeEnrollment(
  { database, now }: Pick<Call, 'database' | 'now'>,
  userId: string,
  { id, assessmentCriteria: { moveOn, passingScore } }: Course,
  { completedAt, grade }: Attainment,
): Promise<boolean> {
  if (moveOn === 'NotApplicable') return false
  const passed = grade !== null && grade >= passingScore
  const met = {
    Completed: Boolean(completedAt),
    Passed: passed,
    CompletedAndPassed: Boolean(completedAt) && passed,
    CompletedOrPassed: Boolean(completedAt) || passed,
  }[moveOn]
  if (!met) return false
  const touched = await database.run(sql`
    update enrollments set
      status = 'completed', completed_at = coalesce(completed_at, ${completedAt ?? now}), version = version + 1,
      updated_at = ${now}
    where user_id = ${userId} and course_id = ${id} and role = 'learner' and status = 'active'`)
  return touched > 0
}
