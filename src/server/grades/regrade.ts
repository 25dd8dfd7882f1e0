import { isDeepStrictEqual } from 'node:util'
import sql from 'sql-template-tag'
import type { Course, CourseUpdate } from '../../contract/courses.ts'
import { maxWeighedGrades, type WeighedGrade, weightWarnings } from '../../contract/weight-warnings.ts'
import { type Change, recordLearning } from '../changes/change.ts'
import { storeRowChanges } from '../changes/row-changes.ts'
import type { Writing } from '../changes/writing.ts'
import type { Database, Row } from '../database/database.ts'
import { completeEnrollment } from '../progress/enrollment-row.ts'
import { readCourseEnrollments, type WalkedInCourse } from '../progress/learner-state.ts'
import { type CourseGrade, courseGradesOf, storeCourseGrades } from './course-grade.ts'
import { readItems } from './gradebook-report.ts'

/**
 * Updates course grades and enrolments to a course's new criteria: grades by its weights, completed if `moveOn` is met now.
 * Completed enrolments stay so. Returns warnings about the weights, if these changed.
 */
export async function regradeCourse(
  call: Writing,
  before: Course,
  course: Course,
): Promise<CourseUpdate['warnings']> {
  const { weights, moveOn, passingScore } = before.assessmentCriteria
  const now = course.assessmentCriteria
  const isWeighted = !isDeepStrictEqual(weights, now.weights)
  if (!isWeighted && moveOn === now.moveOn && passingScore <= now.passingScore) return []
  for await (const learners of readCourseEnrollments(call.database, course.id)) {
    await regradeSome(call, course, learners, isWeighted)
  }
  return isWeighted ? checkWeights(call.database, course) : []
}

async function regradeSome(
  call: Writing,
  course: Course,
  learners: readonly WalkedInCourse[],
  isWeighted: boolean,
): Promise<void> {
  const { database } = call
  const graded = learners.filter(({ grade }) => grade !== null).map(({ userId }) => userId)
  const grades = await courseGradesOf(database, isWeighted ? graded : [], course)
  const changed = new Map<string, CourseGrade>()
  const completions: Change[] = []
  for (const learner of learners) {
    const own = grades.get(learner.userId)
    const grade = own?.percent ?? learner.grade
    if (own && grade !== learner.grade) changed.set(learner.userId, own)
    completions.push(...(await completeEnrollment(call, course, { ...learner, grade }, learner.completedAt)))
  }
  await storeCourseGrades(database, course.id, changed)
  await recordLearning(call, completions)
  storeRowChanges(
    call,
    [...changed.keys()].map((userId) => ({ kind: 'course_grade', id: '', userId, courseId: course.id })),
  )
}

interface GradeRow extends Row, Omit<WeighedGrade, 'counts'> {
  /** 1 for a grade that counts. */
  readonly counts: number
}

/** Returns warnings. Reads a limited number of grades, as it runs in the transaction of an update. */
async function checkWeights(
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
