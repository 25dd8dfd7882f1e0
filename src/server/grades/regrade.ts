import { isDeepStrictEqual } from 'node:util'
import type { Course } from '../../contract/courses.ts'
import type { Writing } from '../audit/entry.ts'
import { type Change, recordLearning } from '../changes/change.ts'
import type { StandingChange } from '../counters/count.ts'
import { countedIn } from '../counters/counted-enrollment.ts'
import type { Finishing } from '../http/handler.ts'
import { completeEnrollment } from '../progress/enrollment-completion.ts'
import { type CourseGrade, courseGradesOf, keepCourseGrades } from './course-grade.ts'
import { anyUnfinished, keepUnfinished, type Regrading, unfinishedOf } from './regrading.ts'

/** Learners looked at in one transaction: some ten milliseconds' worth. */
const atOnce = 250

/**
 * Brings the grades and the enrolments of a course in line with its new criteria: grades by its weights, and completed
 * where `moveOn` is met now. What was completed before stays so. It begins in the transaction that changes the course; where that has
 * many learners, `finishRegrading` does the rest, between which others write.
 */
export async function regradeCourse(call: Writing, before: Course, course: Course): Promise<void> {
  const { weights, moveOn, passingScore } = before.assessmentCriteria
  const now = course.assessmentCriteria
  const isWeighted = !isDeepStrictEqual(weights, now.weights)
  if (!isWeighted && moveOn === now.moveOn && passingScore <= now.passingScore) return
  const { principal, origin } = call
  const left = await unfinishedOf(call.database, course.id)
  // Whoever was left by the change before is looked at for both.
  const weighted = isWeighted || left?.weighted === true
  await regradeSome(call, course, { weighted, after: undefined, principal, origin })
}

/**
 * Looks at all learners whom changes of courses have left, a few in each transaction. Several programs may do so at the same time.
 *
 * @param requestId that of the request whose changes these are; all changes where it is undefined
 */
export async function finishRegrading(
  { database, now, newId }: Omit<Finishing, 'requestId'>,
  requestId?: string,
): Promise<void> {
  // Most changes leave nothing, which is seen without a write.
  if (!(await anyUnfinished(database, requestId))) return
  const next = () =>
    database.write(async (transaction) => {
      const found = await anyUnfinished(transaction, requestId)
      if (!found) return false
      const { course, regrading } = found
      const { principal, origin } = regrading
      const call = { database: transaction, now: now().toISOString(), newId, principal, origin }
      await regradeSome(call, course, regrading)
      return true
    })
  while (await next());
}

/** Looks at some learners, and notes after whom the next ones come. */
async function regradeSome(call: Writing, course: Course, regrading: Regrading): Promise<void> {
  const { database } = call
  const { weighted, after } = regrading
  const { value: learners = [] } = await countedIn(database, course.id, atOnce, after).next()
  const graded = learners.filter(({ grade }) => grade !== null).map(({ userId }) => userId)
  const grades = await courseGradesOf(database, weighted ? graded : [], course)
  const changed = new Map<string, CourseGrade>()
  const completions: Change[] = []
  const standings: StandingChange[] = []
  for (const learner of learners) {
    const own = grades.get(learner.userId)
    const grade = own?.percent ?? learner.grade
    if (own && grade !== learner.grade) changed.set(learner.userId, own)
    const graded = { ...learner, grade }
    const { standing, changes } = await completeEnrollment(call, course, graded, learner.completedAt)
    if (changes.length === 0 && grade === learner.grade) continue
    completions.push(...changes)
    standings.push({ before: learner, after: standing })
  }
  await keepCourseGrades(database, course.id, changed)
  await recordLearning(call, completions, standings)
  const last = learners[atOnce - 1]
  await keepUnfinished(database, course.id, last && { ...regrading, after: last.place })
}
