import sql from 'sql-template-tag'
import type { Course } from '../../contract/courses.ts'
import type { Grade, GradeInput } from '../../contract/grades.ts'
import type { Writing } from '../audit/entry.ts'
import { recordChange } from '../changes/change.ts'
import { counting } from '../counters/count.ts'
import { findCourse, requireNotArchived, toCourse } from '../courses/course-row.ts'
import type { Database } from '../database/database.ts'
import type { Call } from '../http/handler.ts'
import { ProblemError, parentNotFound } from '../problem/problem-error.ts'
import { completeEnrollment } from '../progress/enrollment-completion.ts'
import { findUser } from '../users/user-row.ts'
import { courseGradesOf, keepCourseGrades } from './course-grade.ts'
import { type GradeRow, gradeColumns, storedScore, toGrade } from './grade-row.ts'

/** A grade behind its references, and the one that is stored under the same learner, course, source and item. */
export interface Graded {
  readonly userId: string
  readonly course: Course
  readonly before: Grade | undefined
}

/** What keeping a grade needs. */
type GradeCall = Writing

/**
 * Finds what a grade is about. Throws 404 with the place of an unknown learner or course, and 409 where the course is archived,
 * or the learner is not in it.
 */
export async function gradedBy({ database }: Pick<Call, 'database'>, input: GradeInput): Promise<Graded> {
  const missing = (pointer: string, noun: string, reference: string) => (error: unknown) => {
    throw error instanceof ProblemError && error.status === 404
      ? parentNotFound(pointer, noun, reference)
      : error
  }
  const [user, row] = await Promise.all([
    findUser(database, input.learnerId).catch(missing('#/learnerId', 'user', input.learnerId)),
    findCourse(database, input.courseId).catch(missing('#/courseId', 'course', input.courseId)),
  ])
  requireNotArchived(row)
  await requireLearner(database, user.id, row.id)
  const stored = await database.one<GradeRow>(sql`
    select ${gradeColumns} from grades g
    where g.user_id = ${user.id} and g.course_id = ${row.id} and g.source = ${input.source}
      and g.item_id = ${input.itemId}`)
  return { userId: user.id, course: toCourse(row), before: stored && toGrade(stored) }
}

/** Throws 409 `enrollment_inactive` unless a user learns in a course. */
export async function requireLearner(database: Database, userId: string, courseId: string): Promise<void> {
  const enrolled = await database.one(sql`
    select 1 from enrollments
    where user_id = ${userId} and course_id = ${courseId} and role = 'learner' and status in ('active', 'completed')`)
  if (enrolled) return
  const detail = `User ${userId} is not enrolled in course ${courseId} as a learner, or the enrolment is inactive.`
  throw new ProblemError('enrollment_inactive', detail)
}

/**
 * Keeps a grade, brings the course's grade of the learner up to date, and completes the enrolment where that is due. An older
 * grade never replaces a newer one (409 `stale_grade`), an equally old one does, so that a repetition is harmless. One
 * without a score stays as what was cleared when: no older score can come back.
 *
 * @param deliveryId of the webhook delivery that it came with
 */
export async function setGrade(
  call: GradeCall,
  { userId, course, before }: Graded,
  { itemId, source, label, scoreGiven, scoreMaximum, weight, published, gradedAt = call.now }: GradeInput,
  deliveryId: string | null = null,
): Promise<Grade> {
  const { database, now, principal } = call
  if (before && before.gradedAt > gradedAt) {
    throw new ProblemError(
      'stale_grade',
      `The stored grade is newer: its gradedAt is ${before.gradedAt}, this one is ${gradedAt}.`,
      { members: { current: before } },
    )
  }
  const kept = { label, scoreGiven, scoreMaximum, weight, published, gradedAt }
  const same =
    before && Object.entries(kept).every(([field, value]) => before[field as keyof Grade] === value)
  if (same) return before
  const id = before?.id ?? call.newId('grd')
  const version = (before?.version ?? 0) + 1
  const isPublished = published ? 1 : 0
  await counting(call, { userId, courseId: course.id }, async () => {
    await database.run(sql`
      insert into grades (id, user_id, course_id, source, item_id, label, score_given, cleared, score_maximum, weight,
                          published, graded_at, delivery_id, version, created_at, updated_at)
      values (${id}, ${userId}, ${course.id}, ${source}, ${itemId}, ${label}, ${storedScore(scoreGiven)},
              ${scoreMaximum}, ${weight}, ${isPublished}, ${gradedAt}, ${deliveryId}, ${version}, ${now}, ${now})
      on conflict (user_id, course_id, source, item_id) do update set
        label = excluded.label, score_given = excluded.score_given, cleared = excluded.cleared,
        score_maximum = excluded.score_maximum, weight = excluded.weight, published = excluded.published,
        graded_at = excluded.graded_at, delivery_id = excluded.delivery_id, version = excluded.version,
        updated_at = excluded.updated_at`)
    await database.run(sql`
      insert into grade_steps (grade_id, version, score_given, cleared, score_maximum, published, graded_at, delivery_id,
                               recorded_at, recorded_by)
      values (${id}, ${version}, ${storedScore(scoreGiven)}, ${scoreMaximum}, ${isPublished}, ${gradedAt},
              ${deliveryId}, ${now}, ${principal.userId ?? principal.credential})`)
    await gradeCourse(call, userId, course)
  })
  const row = await database.one<GradeRow>(sql`select ${gradeColumns} from grades g where g.id = ${id}`)
  if (!row) throw new Error(`Grade ${id} was not kept`)
  const after = toGrade(row)
  await recordChange(call, { action: 'grade.updated', id, before: before ?? null, after })
  return after
}

/** Takes a grade away. What it completed stays completed. */
export async function deleteGrade(call: Call, grade: Grade): Promise<void> {
  const { id, learnerId: userId, courseId } = grade
  const row = await findCourse(call.database, courseId)
  requireNotArchived(row)
  await counting(call, { userId, courseId }, async () => {
    await call.database.run(sql`delete from grades where id = ${id}`)
    await gradeCourse(call, userId, toCourse(row))
  })
  await recordChange(call, { action: 'grade.deleted', id, before: grade, after: null })
}

/** Brings the learner's grade of a course up to date, and completes the enrolment where that is due. */
async function gradeCourse(call: Writing, userId: string, course: Course): Promise<void> {
  const { database } = call
  const grades = await courseGradesOf(database, [userId], course)
  const grade = grades.get(userId)
  if (!grade) {
    await database.run(sql`delete from course_grades where user_id = ${userId} and course_id = ${course.id}`)
    return
  }
  await keepCourseGrades(database, course.id, grades)
  const progress = await database.one<{ completed_at: string | null }>(
    sql`select completed_at from progress where user_id = ${userId} and course_id = ${course.id}`,
  )
  const completedAt = progress?.completed_at ?? null
  await completeEnrollment(call, userId, course, { completedAt, grade: grade.percent })
}
