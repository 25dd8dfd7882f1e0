import sql from 'sql-template-tag'
import type { Grade } from '../../contract/grades.ts'
import type { Row } from '../database/database.ts'

/** A grade as the row holds it, with what its learner and course are called now. */
export interface GradeRow extends Row {
  readonly id: string
  readonly user_id: string
  readonly user_email: string
  readonly user_external_id: string | null
  readonly course_id: string
  readonly course_title: string
  readonly course_external_id: string | null
  readonly item_id: string
  readonly source: string
  readonly label: string
  readonly score_given: number
  readonly score_maximum: number
  readonly weight: number | null
  readonly graded_at: string
  readonly version: number
  readonly created_at: string
  readonly updated_at: string
}

/** The columns of a grade's row, from `grades g`. */
export const gradeColumns = sql`g.id, g.user_id,
  (select email from users where id = g.user_id) as user_email,
  (select external_id from users where id = g.user_id) as user_external_id,
  g.course_id, (select title from courses where id = g.course_id) as course_title,
  (select external_id from courses where id = g.course_id) as course_external_id,
  g.item_id, g.source, g.label, g.score_given, g.score_maximum, g.weight, g.graded_at, g.version, g.created_at, g.updated_at`

/** A grade as it is shown, from its row. */
export function toGrade(row: GradeRow): Grade {
  return {
    id: row.id,
    learnerId: row.user_id,
    userEmail: row.user_email,
    userExternalId: row.user_external_id,
    courseId: row.course_id,
    courseTitle: row.course_title,
    courseExternalId: row.course_external_id,
    itemId: row.item_id,
    source: row.source,
    label: row.label,
    scoreGiven: row.score_given,
    scoreMaximum: row.score_maximum,
    percent: (100 * row.score_given) / row.score_maximum,
    weight: row.weight,
    gradedAt: row.graded_at,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
