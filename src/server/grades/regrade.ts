import { isDeepStrictEqual } from 'node:util'
import type { Course } from '../../contract/courses.ts'
import { type Change, count } from '../counters/count.ts'
import { countedIn } from '../counters/counted-enrollment.ts'
import type { Call } from '../http/handler.ts'
import { completeEnrollment } from '../progress/enrollment-completion.ts'
import { type CourseGrade, courseGradesOf, keepCourseGrades } from './course-grade.ts'

/** Learners looked at at a time. */
const atOnce = 1000

/**
 * Brings the grades and the enrolments of a course in line with its new criteria: grades by its weights, and completed
 * where `moveOn` is met now. What was completed before stays so. It takes a time that grows with the learners of the
 * course.
 */
export async function regradeCourse(call: Call, before: Course, course: Course): Promise<void> {
  const { weights, moveOn, passingScore } = before.assessmentCriteria
  const now = course.assessmentCriteria
  const weighted = !isDeepStrictEqual(weights, now.weights)
  if (!weighted && moveOn === now.moveOn && passingScore <= now.passingScore) return
  for await (const learners of countedIn(call.database, course.id, atOnce)) {
    const graded = learners.filter(({ grade }) => grade !== null).map(({ userId }) => userId)
    const grades = await courseGradesOf(call.database, weighted ? graded : [], course)
    const changed = new Map<string, CourseGrade>()
    const changes: Change[] = []
    for (const learner of learners) {
      const { userId, enrollment, completedAt } = learner
      const own = grades.get(userId)
      const grade = own?.percent ?? learner.grade
      if (own && grade !== learner.grade) changed.set(userId, own)
      const completed =
        enrollment === 'active' && (await completeEnrollment(call, userId, course, { completedAt, grade }))
      if (!completed && grade === learner.grade) continue
      const after = { ...learner, grade, enrollment: completed ? 'completed' : enrollment }
      changes.push({ before: learner, after })
    }
    await keepCourseGrades(call.database, course.id, changed)
    await count(call, changes)
  }
}
