import sql, { join, raw, type Sql } from 'sql-template-tag'
import type { Grade } from '../../contract/grades.ts'
import { type Asking, seenOnly, visibleRecords } from '../access/sight.ts'
import type { Database } from '../database/database.ts'
import { type LearnerCourseRow, learnerCourseColumns, learnerCourseOf } from '../progress/progress-row.ts'

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

/** From `grades g`. */
export const gradeColumns = sql`g.id, ${learnerCourseColumns('g')},
  g.item_id, g.source, g.label, ${scoreOf('g')}, g.score_maximum, g.weight, g.published, g.graded_at, g.delivery_id,
  g.version, g.created_at, g.updated_at`

/** Of a grade or of a step of its history; null if cleared. */
export function scoreOf(alias: 'g' | 's'): Sql {
  const table = raw(alias)
  return sql`case when ${table}.cleared = 1 then null else ${table}.score_given end as score_given`
}

/** `score_given` and `cleared`. A cleared score is stored as 0, because the column is not null. */
export function storedScore(score: number | null): Sql {
  return sql`${score ?? 0}, ${score === null ? 1 : 0}`
}

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

export const maxGrades = 5_000

/** At most `maxGrades`. */
export async function listGradesOfLearners(
  database: Database,
  courseId: string,
  userIds: readonly string[],
): Promise<Grade[]> {
  if (userIds.length === 0) return []
  const rows = await database.all<GradeRow>(sql`
    select ${gradeColumns} from grades g
    where g.user_id in (${join([...userIds])}) and g.course_id = ${courseId} limit ${maxGrades}`)
  return rows.map(toGrade)
}

export async function hasGrades(database: Database, courseId: string): Promise<boolean> {
  return (await database.one(sql`select 1 from grades where course_id = ${courseId} limit 1`)) !== undefined
}

export async function isGraded(call: Asking, userId: string): Promise<boolean> {
  const condition = seenOnly(sql`g.user_id = ${userId}`, visibleRecords(call, 'g'))
  return (await call.database.one(sql`select 1 from grades g where ${condition} limit 1`)) !== undefined
}
