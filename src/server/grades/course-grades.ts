import sql, { join } from 'sql-template-tag'
import type { Grade } from '../../contract/grades.ts'
import type { Database } from '../database/database.ts'
import { type GradeRow, gradeColumns, toGrade } from './grade-row.ts'

/** Maximum grades that a page of learners shows. */
export const maxGrades = 5_000

/** Reads the grades of a few learners in a course, at most `maxGrades`. */
export async function gradesOfLearners(
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

/** True if a learner has a grade in this course. */
export async function hasGrades(database: Database, courseId: string): Promise<boolean> {
  return (await database.one(sql`select 1 from grades where course_id = ${courseId} limit 1`)) !== undefined
}

/** True if this learner has a grade in any course. */
export async function isGraded(database: Database, userId: string): Promise<boolean> {
  return (await database.one(sql`select 1 from grades where user_id = ${userId} limit 1`)) !== undefined
}
