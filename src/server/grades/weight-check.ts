import sql from 'sql-template-tag'
import type { Course, CourseUpdate } from '../../contract/courses.ts'
import { maxWeighedGrades, type WeighedGrade, weightWarnings } from '../../contract/weight-warnings.ts'
import type { Database, Row } from '../database/database.ts'
import { readItems } from './gradebook-report.ts'

interface GradeRow extends Row, Omit<WeighedGrade, 'counts'> {
  /** 1 for a grade that counts. */
  readonly counts: number
}

/** Returns warnings. Reads a limited number of grades, as it runs in the transaction of an update. */
export async function checkWeights(
  database: Database,
  course: Course,
): Promise<NonNullable<CourseUpdate['warnings']>> {
  const { weights } = course.assessmentCriteria
  if (weights.length === 0) return []
  const rows = await database.all<GradeRow>(sql`
    select user_id as "userId", item_id as "itemId", label, weight,
      case when published = 1 and cleared = 0 then 1 else 0 end as counts
    from grades where course_id = ${course.id} limit ${maxWeighedGrades + 1}`)
  const isCut = rows.length > maxWeighedGrades
  const others = isCut ? (await readItems(database, course.id, true)).items : []
  const names = others.flatMap(({ itemId, label }) => [itemId, label])
  const grades = rows.map((row) => ({ ...row, counts: row.counts === 1 }))
  return weightWarnings(weights, grades, isCut ? names : null)
}
