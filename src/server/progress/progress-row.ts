import sql from 'sql-template-tag'
import type { Progress } from '../../contract/progress.ts'
import type { Database, Row } from '../database/database.ts'

/** A learner's progress in one course as the row holds it. */
export interface ProgressRow extends Row {
  readonly user_id: string
  readonly user_email: string
  readonly user_external_id: string | null
  readonly course_id: string
  readonly course_title: string
  readonly course_external_id: string | null
  readonly percentage: number
  readonly status: string
  readonly started_at: string | null
  readonly last_accessed: string
  readonly completed_at: string | null
  readonly version: number
  readonly updated_at: string
}

/** The columns of a progress row. */
export const progressColumns = sql`p.user_id,
  (select email from users where id = p.user_id) as user_email,
  (select external_id from users where id = p.user_id) as user_external_id,
  p.course_id, (select title from courses where id = p.course_id) as course_title,
  (select external_id from courses where id = p.course_id) as course_external_id, p.percentage, p.status, p.started_at, p.last_accessed,
  p.completed_at, p.version, p.updated_at`

/** The stored progress, or undefined where there is none yet. */
export async function findProgress(
  database: Database,
  userId: string,
  courseId: string,
): Promise<Progress | undefined> {
  const row = await database.one<ProgressRow>(
    sql`select ${progressColumns} from progress p where p.user_id = ${userId} and p.course_id = ${courseId}`,
  )
  return row && toProgress(row)
}

/** Progress as it is shown, from its row. */
export function toProgress(row: ProgressRow): Progress {
  return {
    learnerId: row.user_id,
    userEmail: row.user_email,
    userExternalId: row.user_external_id,
    courseId: row.course_id,
    courseTitle: row.course_title,
    courseExternalId: row.course_external_id,
    completionPercentage: row.percentage,
    status: row.status as Progress['status'],
    startedAt: row.started_at,
    lastAccessed: row.last_accessed,
    completedAt: row.completed_at,
    version: row.version,
    updatedAt: row.updated_at,
  }
}
