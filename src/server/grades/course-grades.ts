import sql, { join } from 'sql-template-tag'
import type { Grade } from '../../contract/grades.ts'
import type { Database } from '../database/database.ts'
import { type GradeRow, gradeColumns, toGrade } from './grade-row.ts'

/** So many grades of a few learners are looked at. */
export const mostGrades = 5_000

/** The grades of a few learners in a course, at most `mostGrades` of them. */
export async function gradesOfLearners(
  database: Database,
  courseId: string,
  userIds: readonly string[],
): Promise<Grade[]> {
  if (userIds.length === 0) return []
  const rows = await database.all<GradeRow>(sql`
    select ${gradeColumns} from grades g
    where g.user_id in (${join([...userIds])}) and g.course_id = ${courseId} limit ${mostGrades}`)
  return rows.map(toGrade)
}

/** True where anybody has a grade in this course. */
export async function hasGrades(database: Database, courseId: string): Promise<boolean> {
  return (await database.one(sql`select 1 from grades where course_id = ${courseId} limit 1`)) !== undefined
}

/** True where this learner has a grade in any course. */
export async function isGraded(database: Database, userId: string): Promise<boolean> {
  return (await database.one(sql`select 1 from grades where user_id = ${userId} limit 1`)) !== undefined
}
