import { isDeepStrictEqual } from 'node:util'
import { wholeCourse } from '../../contract/constants.ts'
import type { Course, CourseUpdate } from '../../contract/courses.ts'
import { type Change, recordLearning } from '../changes/change.ts'
import type { Writing } from '../changes/writing.ts'
import type { Database } from '../database/database.ts'
import { completeEnrollment } from '../progress/enrollment-row.ts'
import { readCourseEnrollments, type WalkedInCourse } from '../progress/learner-state.ts'
import { type CourseGrade, courseGradesOf, storeCourseGrades } from './course-grade.ts'
import { readItems } from './gradebook-report.ts'

/**
 * Applies a course's new criteria: completed if `moveOn` is met now; completed enrolments stay so. Returns warnings about the
 * weights, if these changed.
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
  let learners = 0
  const unweighted = new Map<string, number>()
  for await (const some of readCourseEnrollments(call.database, course.id)) {
    for (const grade of await regradeSome(call, course, some, isWeighted)) {
      learners += 1
      for (const item of new Set(grade.unweighted)) unweighted.set(item, (unweighted.get(item) ?? 0) + 1)
    }
  }
  return isWeighted ? weightWarnings(call.database, course, learners, unweighted) : []
}

/** Returns the grades of these learners; none unless the weights have changed. */
async function regradeSome(
  call: Writing,
  course: Course,
  learners: readonly WalkedInCourse[],
  isWeighted: boolean,
): Promise<Iterable<CourseGrade>> {
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
  return grades.values()
}

/** Unweighted items that warnings name; those of most learners come first. */
const maxItems = 50

/**
 * Warns about weights that name no item, and graded items that do not count because others have a weight; `unweighted` is the
 * number of learners of these. A course without grades has none: its weights are set before its items exist.
 */
async function weightWarnings(
  database: Database,
  { id, assessmentCriteria: { weights } }: Course,
  learners: number,
  unweighted: ReadonlyMap<string, number>,
): Promise<NonNullable<CourseUpdate['warnings']>> {
  if (weights.length === 0 || learners === 0) return []
  const { items, hasMoreItems } = await readItems(database, id, true)
  const graded = items.filter(({ itemId }) => itemId !== wholeCourse)
  if (graded.length === 0) return []
  const names = new Set(graded.flatMap(({ itemId, label }) => [itemId, label]))
  // Of more items than are read, any may have the name.
  const named = hasMoreItems ? [] : weights.map(({ name }) => name)
  const unknown = new Set(named.filter((name) => !names.has(name)))
  const learnersText = (count: number) => (count === 1 ? '1 learner' : `${count} learners`)
  return [
    ...[...unknown].map((name) => ({
      code: 'no_item' as const,
      detail: `No item is named ${name}: its weight has no effect on the grades of ${learnersText(learners)}.`,
    })),
    ...[...unweighted]
      .sort(([, one], [, other]) => other - one)
      .slice(0, maxItems)
      .map(([item, count]) => ({
        code: 'unweighted' as const,
        detail: `Item ${item} has no weight, while others have one: it does not count for ${learnersText(count)}.`,
      })),
  ]
}
