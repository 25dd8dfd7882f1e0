import sql from 'sql-template-tag'
import type { Course } from '../../contract/courses.ts'
import type { Grade, RecordedGrade } from '../../contract/grades.ts'
import { recordLearning } from '../changes/change.ts'
import type { Writing } from '../changes/writing.ts'
import { findCourse, type Opening, requireOpen, toCourse } from '../courses/course-row.ts'
import { ProblemError } from '../problem-error.ts'
import { completeEnrollment } from '../progress/enrollment-row.ts'
import { findState } from '../progress/learner-state.ts'
import { requirePast } from '../progress/progress-setting.ts'
import { type CourseGrade, courseGradesOf, storeCourseGrades } from './course-grade.ts'
import { storedScore, toGrade } from './grade-row.ts'
import type { ResolvedGrade } from './resolve-grade.ts'

/**
 * Stores a grade, updates the learner's course grade, and completes the enrolment if due. An older grade never replaces a
 * newer one (409 `stale_grade`); an equally old one does, so that retries are harmless. A cleared score keeps its time, so
 * that no older score replaces it. Grades of the future are refused (422 `in_future`).
 *
 * @param deliveryId webhook delivery that contained the grade
 */
export async function setGrade(
  call: Writing,
  { learner, course, before, grade: whole, isMaximumUnsure, state, completedAt }: ResolvedGrade,
  deliveryId: string | null = null,
): Promise<RecordedGrade> {
  const { database, now, principal } = call
  const { itemId, source, label, scoreGiven, scoreMaximum, weight, published, gradedAt = now } = whole
  requirePast('gradedAt', gradedAt, now)
  if (before && before.gradedAt > gradedAt) {
    throw new ProblemError(
      'stale_grade',
      `The stored grade is newer: its gradedAt is ${before.gradedAt}, this one is ${gradedAt}.`,
      { members: { current: before } },
    )
  }
  const fields = { label, scoreGiven, scoreMaximum, weight, published, gradedAt }
  const isSame =
    before && Object.entries(fields).every(([field, value]) => before[field as keyof Grade] === value)
  if (isSame) return before
  const id = before?.id ?? call.newId('grd')
  const version = (before?.version ?? 0) + 1
  const isPublished = published ? 1 : 0
  const createdAt = before?.createdAt ?? now
  database.queue(sql`
    insert into grades (id, user_id, course_id, source, item_id, label, score_given, cleared, score_maximum, weight,
                        published, graded_at, delivery_id, version, created_at, updated_at)
    values (${id}, ${learner.id}, ${course.id}, ${source}, ${itemId}, ${label}, ${storedScore(scoreGiven)},
            ${scoreMaximum}, ${weight}, ${isPublished}, ${gradedAt}, ${deliveryId}, ${version}, ${now}, ${now})
    on conflict (user_id, course_id, source, item_id) do update set
      label = excluded.label, score_given = excluded.score_given, cleared = excluded.cleared,
      score_maximum = excluded.score_maximum, weight = excluded.weight, published = excluded.published,
      graded_at = excluded.graded_at, delivery_id = excluded.delivery_id, version = excluded.version,
      updated_at = excluded.updated_at`)
  database.queue(sql`
    insert into grade_steps (grade_id, version, score_given, cleared, score_maximum, published, graded_at, delivery_id,
                             recorded_at, recorded_by)
    values (${id}, ${version}, ${storedScore(scoreGiven)}, ${scoreMaximum}, ${isPublished}, ${gradedAt},
            ${deliveryId}, ${now}, ${principal.userId ?? principal.credential})`)
  const courseGrade = await updateCourseGrade(call, learner.id, course)
  const grade = courseGrade?.percent ?? null
  const completed =
    grade === null ? [] : await completeEnrollment(call, course, { ...state, grade }, completedAt)
  const after = toGrade({
    id,
    user_id: learner.id,
    user_email: learner.email,
    user_external_id: learner.externalId,
    course_id: course.id,
    course_title: course.title,
    course_external_id: course.externalId,
    item_id: itemId,
    source,
    label,
    score_given: scoreGiven,
    score_maximum: scoreMaximum,
    weight,
    published: isPublished,
    graded_at: gradedAt,
    delivery_id: deliveryId,
    version,
    created_at: createdAt,
    updated_at: now,
  })
  const updated = { action: 'grade.updated', id, before: before ?? null, after } as const
  await recordLearning(call, [...completed, updated])
  const isUnweighted = published && scoreGiven !== null && courseGrade?.unweighted.includes(itemId)
  const warnings = [
    ...(isUnweighted ? [unweighted(itemId)] : []),
    ...(isMaximumUnsure ? [severalMaxima(itemId, scoreMaximum)] : []),
  ]
  return warnings.length > 0 ? { ...after, warnings } : after
}

function severalMaxima(itemId: string, maximum: number) {
  const why = `Grades of item ${itemId} have several maxima`
  return { code: 'several_maxima' as const, detail: `${why}: ${maximum}, that of the newest one, was used.` }
}

function unweighted(itemId: string) {
  const why = `Item ${itemId} has no weight, while other items of this learner have one`
  return { code: 'unweighted' as const, detail: `${why}: it does not count in the grade of the course.` }
}

/** An enrolment that it completed stays completed. */
export async function deleteGrade(call: Writing & Opening, grade: Grade): Promise<void> {
  const { id, learnerId: userId, courseId } = grade
  const row = await findCourse(call.database, courseId)
  await requireOpen(call, row)
  const course = toCourse(row)
  const state = await findState(call.database, userId, courseId)
  await call.database.run(sql`delete from grades where id = ${id}`)
  const left = (await updateCourseGrade(call, userId, course))?.percent ?? null
  const deleted = { action: 'grade.deleted', id, before: grade, after: null } as const
  const completed =
    !state || left === null
      ? []
      : await completeEnrollment(
          call,
          course,
          { ...state, grade: left },
          await contentCompletedAt(call, userId, courseId),
        )
  await recordLearning(call, [...completed, deleted])
}

async function contentCompletedAt(
  { database }: Writing,
  userId: string,
  courseId: string,
): Promise<string | null> {
  const progress = await database.one<{ completed_at: string | null }>(
    sql`select completed_at from progress where user_id = ${userId} and course_id = ${courseId}`,
  )
  return progress?.completed_at ?? null
}

/** Undefined if no grade counts. */
async function updateCourseGrade(
  { database }: Writing,
  userId: string,
  course: Course,
): Promise<CourseGrade | undefined> {
  const grades = await courseGradesOf(database, [userId], course)
  const grade = grades.get(userId)
  if (!grade) {
    await database.run(sql`delete from course_grades where user_id = ${userId} and course_id = ${course.id}`)
    return undefined
  }
  await storeCourseGrades(database, course.id, grades)
  return grade
}
