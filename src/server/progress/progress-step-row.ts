import sql from 'sql-template-tag'
import type { ProgressStep } from '../../contract/progress.ts'
import type { Row } from '../database/database.ts'

/** An entry of the progress history as the row holds it, with what its learner and course are called now. */
export interface StepRow extends Row {
  readonly user_id: string
  readonly user_email: string
  readonly user_external_id: string | null
  readonly course_id: string
  readonly course_title: string
  readonly course_external_id: string | null
  readonly version: number
  readonly percentage: number
  readonly status: string
  readonly last_accessed: string
  readonly recorded_at: string
}

/** The columns of an entry's row, of `s`. */
export const stepColumns = sql`s.user_id,
  (select email from users where id = s.user_id) as user_email,
  (select external_id from users where id = s.user_id) as user_external_id,
  s.course_id, (select title from courses where id = s.course_id) as course_title,
  (select external_id from courses where id = s.course_id) as course_external_id,
  s.version, s.percentage, s.status, s.last_accessed, s.recorded_at`

/** An entry as it is shown, from its row. */
export function toStep(row: StepRow): ProgressStep {
  return {
    learnerId: row.user_id,
    userEmail: row.user_email,
    userExternalId: row.user_external_id,
    courseId: row.course_id,
    courseTitle: row.course_title,
    courseExternalId: row.course_external_id,
    version: row.version,
    completionPercentage: row.percentage,
    status: row.status as ProgressStep['status'],
    lastAccessed: row.last_accessed,
    recordedAt: row.recorded_at,
  }
}
