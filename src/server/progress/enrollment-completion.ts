import sql from 'sql-template-tag'
import type { Course } from '../../contract/courses.ts'
import type { Writing } from '../audit/entry.ts'
import type { Change } from '../changes/change.ts'
import type { CountedEnrollment } from '../counters/counted-enrollment.ts'
import { type EnrollmentRow, enrollmentColumns, toEnrollment } from './enrollment-row.ts'

/** The updated standing, and the change of the enrolment that the caller must record, if any. */
interface Completed<Standing> {
  readonly standing: Standing
  readonly changes: readonly Change[]
}

/**
 * Completes an active enrolment once the course's `moveOn` is met (cmi5 §10.2.3). It is never reopened.
 *
 * @param standing with the current grade
 * @param completedAt when the learner completed the content of the course
 */
export async function completeEnrollment<Standing extends CountedEnrollment>(
  { database, now }: Writing,
  { assessmentCriteria: { moveOn, passingScore } }: Course,
  standing: Standing,
  completedAt: string | null,
): Promise<Completed<Standing>> {
  const { userId, courseId, grade } = standing
  const passed = grade !== null && grade >= passingScore
  const isMet = {
    NotApplicable: false,
    Completed: Boolean(completedAt),
    Passed: passed,
    CompletedAndPassed: Boolean(completedAt) && passed,
    CompletedOrPassed: Boolean(completedAt) || passed,
  }[moveOn]
  const row =
    isMet && standing.enrollment === 'active'
      ? await database.one<EnrollmentRow>(sql`
          select ${enrollmentColumns} from enrollments e
          where e.user_id = ${userId} and e.course_id = ${courseId} and e.role = 'learner' and e.status = 'active'`)
      : undefined
  if (!row) return { standing, changes: [] }
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
  return {
    standing: { ...standing, enrollment: after.status },
    changes: [{ action: 'enrollment.completed', id: before.id, before, after }],
  }
}
