import sql, { raw, type Sql } from 'sql-template-tag'
import type { Grade } from '../../contract/grades.ts'
import { type LearnerCourseRow, learnerCourseColumns, learnerCourseOf } from '../progress/learner-course.ts'

/** A grade's row, with the current names of its learner and course. */
export interface GradeRow extends LearnerCourseRow {
  readonly id: string
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
export const gradeColumns = sql`g.id, ${learnerCourseColumns('g')},
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
    ...learnerCourseOf(row),
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
