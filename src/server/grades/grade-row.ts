import sql, { raw, type Sql } from 'sql-template-tag'
import type { Grade } from '../../contract/grades.ts'
import type { Row } from '../database/database.ts'

/** A grade's row, with the current names of its learner and course. */
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
  readonly score_given: number | null
  readonly score_maximum: number
  readonly weight: number | null
  readonly published: number
  readonly graded_at: string
  readonly delivery_id: string | null
  readonly version: number
  readonly created_at: string
  readonly updated_at: string
}

/** Columns of GradeRow, from `grades g`. */
export const gradeColumns = sql`g.id, g.user_id,
  (select email from users where id = g.user_id) as user_email,
  (select external_id from users where id = g.user_id) as user_external_id,
  g.course_id, (select title from courses where id = g.course_id) as course_title,
  (select external_id from courses where id = g.course_id) as course_external_id,
  g.item_id, g.source, g.label, ${scoreOf('g')}, g.score_maximum, g.weight, g.published, g.graded_at, g.delivery_id,
  g.version, g.created_at, g.updated_at`

/** Selects the score of a grade or of a step of its history; null if cleared. */
export function scoreOf(alias: 'g' | 's'): Sql {
  const table = raw(alias)
  return sql`case when ${table}.cleared = 1 then null else ${table}.score_given end as score_given`
}

/** Values of `score_given` and `cleared`. A cleared score is stored as 0, because the column is not null. */
export function storedScore(score: number | null): Sql {
  return sql`${score ?? 0}, ${score === null ? 1 : 0}`
}

/** Converts a row to the API's form. */
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
    percent: row.score_given === null ? null : (100 * row.score_given) / row.score_maximum,
    weight: row.weight,
    published: row.published === 1,
    gradedAt: row.graded_at,
    deliveryId: row.delivery_id,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
