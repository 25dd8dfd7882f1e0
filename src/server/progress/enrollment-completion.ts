import sql from 'sql-template-tag'
import type { Course } from '../../contract/courses.ts'
import type { Writing } from '../audit/entry.ts'
import { recordChange } from '../changes/change.ts'
import { type EnrollmentRow, enrollmentColumns, toEnrollment } from './enrollment-row.ts'

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
  call: Writing,
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
  const { database, now } = call
  const row = await database.one<EnrollmentRow>(sql`
    select ${enrollmentColumns} from enrollments e
    where e.user_id = ${userId} and e.course_id = ${id} and e.role = 'learner' and e.status = 'active'`)
  if (!row) return false
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
  await recordChange(call, { action: 'enrollment.completed', id: before.id, before, after })
  return true
}
