import sql from 'sql-template-tag'
import type { Course } from '../../contract/courses.ts'
import type { Call } from '../http/handler.ts'

/** Makes an active enrolment completed once the course's `moveOn` is met (cmi5 §10.2.3); it stays so. */
export function completeEnrollment(
  { database, now }: Pick<Call, 'database' | 'now'>,
  userId: string,
  { id, assessmentCriteria: { moveOn, passingScore } }: Course,
): void {
  if (moveOn === 'NotApplicable') return
  const completed = database.one<{ completed_at: string | null }>(
    sql`select completed_at from progress where user_id = ${userId} and course_id = ${id}`,
  )?.completed_at
  const percent = database.one<{ percent: number }>(
    sql`select percent from course_grades where user_id = ${userId} and course_id = ${id}`,
  )?.percent
  const passed = percent !== undefined && percent >= passingScore
  const met = {
    Completed: Boolean(completed),
    Passed: passed,
    CompletedAndPassed: Boolean(completed) && passed,
    CompletedOrPassed: Boolean(completed) || passed,
  }[moveOn]
  if (!met) return
  database.run(sql`
    update enrollments set
      status = 'completed', completed_at = coalesce(completed_at, ${completed ?? now}), version = version + 1,
      updated_at = ${now}
    where user_id = ${userId} and course_id = ${id} and role = 'learner' and status = 'active'`)
}
