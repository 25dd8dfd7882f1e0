import sql from 'sql-template-tag'
import type { Course } from '../../contract/courses.ts'
import { type Grade, type GradeInput, wholeCourse } from '../../contract/grades.ts'
import type { Writing } from '../audit/entry.ts'
import { recordChange } from '../changes/change.ts'
import { counting } from '../counters/count.ts'
import { findCourse, requireNotArchived, toCourse } from '../courses/course-row.ts'
import type { Call } from '../http/handler.ts'
import { ProblemError, parentNotFound } from '../problem/problem-error.ts'
import { completeEnrollment } from '../progress/enrollment-completion.ts'
import { findUser } from '../users/user-row.ts'
import { type GradeRow, gradeColumns, toGrade } from './grade-row.ts'

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
  const enrolled = await database.one(sql`
    select 1 from enrollments
    where user_id = ${user.id} and course_id = ${row.id} and role = 'learner' and status in ('active', 'completed')`)
  if (!enrolled) {
    const detail = `User ${user.id} is not enrolled in course ${row.id} as a learner, or the enrolment is inactive.`
    throw new ProblemError('enrollment_inactive', detail)
  }
  const stored = await database.one<GradeRow>(sql`
    select ${gradeColumns} from grades g
    where g.user_id = ${user.id} and g.course_id = ${row.id} and g.source = ${input.source}
      and g.item_id = ${input.itemId}`)
  return { userId: user.id, course: toCourse(row), before: stored && toGrade(stored) }
}

/**
 * Keeps a grade, brings the course's grade of the learner up to date, and completes the enrolment where that is due. An older
 * grade never replaces a newer one (409 `stale_grade`), an equally old one does, so that a repetition is harmless.
 */
export async function setGrade(
  call: GradeCall,
  { userId, course, before }: Graded,
  { itemId, source, label, scoreGiven, scoreMaximum, weight, gradedAt = call.now }: GradeInput,
): Promise<Grade> {
  const { database, now } = call
  if (before && before.gradedAt > gradedAt) {
    throw new ProblemError(
      'stale_grade',
      `The stored grade is newer: its gradedAt is ${before.gradedAt}, this one is ${gradedAt}.`,
      { members: { current: before } },
    )
  }
  const kept = { label, scoreGiven, scoreMaximum, weight, gradedAt }
  const same =
    before && Object.entries(kept).every(([field, value]) => before[field as keyof Grade] === value)
  if (same) return before
  const id = before?.id ?? call.newId('grd')
  const version = (before?.version ?? 0) + 1
  await counting(call, { userId, courseId: course.id }, async () => {
    await database.run(sql`
      insert into grades (id, user_id, course_id, source, item_id, label, score_given, score_maximum, weight, graded_at,
                          version, created_at, updated_at)
      values (${id}, ${userId}, ${course.id}, ${source}, ${itemId}, ${label}, ${scoreGiven}, ${scoreMaximum}, ${weight},
              ${gradedAt}, ${version}, ${now}, ${now})
      on conflict (user_id, course_id, source, item_id) do update set
        label = excluded.label, score_given = excluded.score_given, score_maximum = excluded.score_maximum,
        weight = excluded.weight, graded_at = excluded.graded_at, version = excluded.version,
        updated_at = excluded.updated_at`)
    await database.run(sql`
      insert into grade_steps (grade_id, version, score_given, score_maximum, graded_at, recorded_at, recorded_by)
      values (${id}, ${version}, ${scoreGiven}, ${scoreMaximum}, ${gradedAt}, ${now}, ${call.principal.userId})`)
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

/**
 * The learner's grade of a course: the one of the course as a whole where there is one, else the mean of its items, by their
 * weights; items without one count as much as the criteria of the course say for their name, or all the same.
 */
async function gradeCourse(call: Writing, userId: string, course: Course): Promise<void> {
  const { database } = call
  const items = await database.all<{
    item_id: string
    label: string
    percent: number
    weight: number | null
    graded_at: string
  }>(sql`
    select item_id, label, 100.0 * score_given / score_maximum as percent, weight, graded_at from grades
    where user_id = ${userId} and course_id = ${course.id} order by source, item_id limit ${maximumItems}`)
  if (items.length === 0) {
    await database.run(sql`delete from course_grades where user_id = ${userId} and course_id = ${course.id}`)
    return
  }
  const inTime = items.toSorted((one, other) => (one.graded_at < other.graded_at ? -1 : 1))
  const whole = inTime.findLast(({ item_id: item }) => item === wholeCourse)
  const grade = whole?.percent ?? meanOf(items, course.assessmentCriteria.weights)
  await database.run(sql`
    insert into course_grades (user_id, course_id, percent, updated_at)
    values (${userId}, ${course.id}, ${grade}, ${inTime.at(-1)?.graded_at})
    on conflict (user_id, course_id) do update set percent = excluded.percent, updated_at = excluded.updated_at`)
  const progress = await database.one<{ completed_at: string | null }>(
    sql`select completed_at from progress where user_id = ${userId} and course_id = ${course.id}`,
  )
  await completeEnrollment(call, userId, course, { completedAt: progress?.completed_at ?? null, grade })
}

/** Grades of one learner in one course that count. */
const maximumItems = 10_000

function meanOf(
  items: readonly { item_id: string; label: string; percent: number; weight: number | null }[],
  named: Course['assessmentCriteria']['weights'],
): number {
  const weighted = items.map(({ item_id: item, label, percent, weight }) => ({
    percent,
    weight: weight ?? named.find(({ name }) => name === item || name === label)?.weight ?? null,
  }))
  const sum = weighted.reduce((total, { weight }) => total + (weight ?? 0), 0)
  if (sum === 0) return weighted.reduce((total, { percent }) => total + percent, 0) / weighted.length
  return weighted.reduce((total, { percent, weight }) => total + percent * (weight ?? 0), 0) / sum
}
