import sql, { raw, type Sql } from 'sql-template-tag'
import { calls } from '../../contract/calls.ts'
import type { Progress, ProgressStep } from '../../contract/progress.ts'
import type { Database, Row } from '../database/database.ts'
import { recordReader } from '../database/record.ts'

/** From `progress p`. */
export const progressColumns = sql`p.user_id as learner_id, ${learnerCourseColumns('p')},
  p.percentage as completion_percentage, p.status, p.started_at, p.last_accessed, p.completed_at, p.version, p.updated_at`

export async function findProgress(
  database: Database,
  userId: string,
  courseId: string,
): Promise<Progress | undefined> {
  const row = await database.one(
    sql`select ${progressColumns} from progress p where p.user_id = ${userId} and p.course_id = ${courseId}`,
  )
  return row && toProgress(row)
}

export const toProgress = recordReader<Progress>(calls.progress.list)

/** From `progress_steps s`. */
export const stepColumns = sql`s.user_id as learner_id, ${learnerCourseColumns('s')},
  s.version, s.percentage as completion_percentage, s.status, s.last_accessed, s.recorded_at`

export const toStep = recordReader<ProgressStep>(calls.progress.history)

export interface LearnerCourseRow extends Row {
  readonly user_id: string
  readonly user_email: string
  readonly user_external_id: string | null
  readonly course_id: string
  readonly course_title: string
  readonly course_external_id: string | null
}

export function learnerCourseColumns(alias: 'e' | 'p' | 's' | 'g'): Sql {
  const table = raw(alias)
  return sql`${table}.user_id,
  (select email from users where id = ${table}.user_id) as user_email,
  (select external_id from users where id = ${table}.user_id) as user_external_id,
  ${table}.course_id, (select title from courses where id = ${table}.course_id) as course_title,
  (select external_id from courses where id = ${table}.course_id) as course_external_id`
}

export function learnerCourseOf(row: LearnerCourseRow) {
  return {
    learnerId: row.user_id,
    userEmail: row.user_email,
    userExternalId: row.user_external_id,
    courseId: row.course_id,
    courseTitle: row.course_title,
    courseExternalId: row.course_external_id,
  }
}
