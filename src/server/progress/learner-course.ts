import sql, { raw, type Sql } from 'sql-template-tag'
import type { Row } from '../database/database.ts'

/** The ids of a user and a course, with their current names. */
export interface LearnerCourseRow extends Row {
  readonly user_id: string
  readonly user_email: string
  readonly user_external_id: string | null
  readonly course_id: string
  readonly course_title: string
  readonly course_external_id: string | null
}

/** Returns the columns of LearnerCourseRow, from a table with `user_id` and `course_id`. */
export function learnerCourseColumns(alias: 'e' | 'p' | 's' | 'g'): Sql {
  const table = raw(alias)
  return sql`${table}.user_id,
  (select email from users where id = ${table}.user_id) as user_email,
  (select external_id from users where id = ${table}.user_id) as user_external_id,
  ${table}.course_id, (select title from courses where id = ${table}.course_id) as course_title,
  (select external_id from courses where id = ${table}.course_id) as course_external_id`
}

/** Converts the ids and names to the API's form for a learner. */
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
