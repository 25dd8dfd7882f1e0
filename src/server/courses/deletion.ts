import sql from 'sql-template-tag'
import type { courses } from '../../contract/courses.ts'
import type { lessons } from '../../contract/lessons.ts'
import { recordChange } from '../changes/change.ts'
import { storeRestoredCourse } from '../changes/row-changes.ts'
import type { Row } from '../database/database.ts'
import { resolve } from '../database/reference.ts'
import { takeFromTrash } from '../database/trash.ts'
import { type Call, requireVersion } from '../http/handler.ts'
import { ProblemError } from '../problem-error.ts'
import { findCourse, findVisibleCourse, requireOpen, toCourse } from './course-row.ts'
import { recordCourseVersion } from './course-versions.ts'
import { eraseDeleted, requireDeleted, trashOrErase } from './deleted-records.ts'
import { makeRoom } from './lesson-places.ts'
import { findLesson, findVisibleLesson, toLesson } from './lesson-row.ts'
import { moduleOf, recordLesson } from './lesson-versions.ts'

export async function deleteCourse(call: Call<typeof courses.delete>): Promise<undefined> {
  const { database, params, query } = call
  if (query.erase && !(await resolve(database, 'courses', params.courseId))) {
    return eraseDeleted(call, 'courses', params.courseId)
  }
  const course = toCourse(await findVisibleCourse(call, params.courseId))
  const { id, version } = course
  requireVersion(call, version)
  if (!query.force) await requireDeletable(call, id)
  await trashOrErase(call, 'course', { id, courseId: id })
  const action = query.erase ? 'course.erased' : 'course.deleted'
  await recordChange(call, { action, id, before: course, after: null })
  await database.run(sql`delete from courses where id = ${id} and version = ${version}`)
  return undefined
}

export async function deleteLesson(call: Call<typeof lessons.delete>): Promise<undefined> {
  const { database, params, query } = call
  if (query.erase && !(await resolve(database, 'lessons', params.lessonId))) {
    return eraseDeleted(call, 'lessons', params.lessonId)
  }
  const lesson = toLesson(await findVisibleLesson(call, params.lessonId))
  const { id, version, courseId } = lesson
  requireVersion(call, version)
  await requireOpen(call, await findCourse(database, courseId))
  await trashOrErase(call, 'lesson', lesson)
  await database.run(sql`delete from lessons where id = ${id} and version = ${version}`)
  const action = query.erase ? 'lesson.erased' : 'lesson.deleted'
  await recordChange(call, { action, id, before: lesson, after: null })
  return undefined
}

export async function restoreDeletedCourse(call: Call<typeof courses.restoreDeleted>) {
  const { id } = await requireDeleted(call, 'courses', call.params.deletedCourseId)
  await takeFromTrash(call.database, 'course', id)
  await releaseDeletedTerm(call, id)
  const course = toCourse(await findCourse(call.database, id))
  await recordChange(call, { action: 'course.restored', id, before: null, after: course })
  storeRestoredCourse(call, id)
  return course
}

async function releaseDeletedTerm(call: Call, id: string): Promise<void> {
  const released = await call.database.run(sql`
    update courses set term_id = null, version = version + 1, updated_at = ${call.now}
    where id = ${id} and term_id is not null and not exists (select 1 from terms t where t.id = courses.term_id)`)
  if (released === 0) return
  recordCourseVersion(call, toCourse(await findCourse(call.database, id)), ['termId'])
}

/** Without its module if that no longer exists. */
export async function restoreDeletedLesson(call: Call<typeof lessons.restoreDeleted>) {
  const { database, now } = call
  const { id, course_id: courseId } = await requireDeleted(call, 'lessons', call.params.deletedLessonId)
  if (!(await resolve(database, 'courses', courseId))) {
    const titles = await database.one<Row & { lesson: string; course: string | null }>(sql`
      select l.title as lesson, c.title as course
      from deleted_lessons l left join deleted_courses c on c.id = ${courseId} where l.id = ${id}`)
    const { lesson = id, course } = titles ?? {}
    const detail = `Course ${course ?? courseId} of lesson ${lesson} is deleted; restore the course first.`
    throw new ProblemError('course_deleted', detail, { members: { id: courseId } })
  }
  await requireOpen(call, await findCourse(database, courseId))
  await takeFromTrash(database, 'lesson', id)
  const lesson = await findLesson(database, id)
  await makeRoom(call, courseId, lesson.position, id)
  if ((await moduleOf(call, courseId, lesson.module_id)) !== lesson.module_id) {
    await database.run(
      sql`update lessons set module_id = null, version = version + 1, updated_at = ${now} where id = ${id}`,
    )
    recordLesson(call, id, ['moduleId'])
  }
  const restored = toLesson(await findLesson(database, id))
  await recordChange(call, { action: 'lesson.restored', id, before: null, after: restored })
  return restored
}

async function requireDeletable(call: Call, id: string): Promise<void> {
  if ((await hasProgress(call, id)) || (await hasGrades(call, id))) {
    throw new ProblemError(
      'has_progress',
      'The course has learner progress or grades. Archive it, or use force=true to delete it with its learner data.',
    )
  }
  const { count } = (await call.database.one<{ count: number }>(
    sql`select count(*) as count from lessons where course_id = ${id}`,
  )) ?? { count: 0 }
  if (count === 0) return
  const [lessons, them] = count === 1 ? ['1 lesson', 'it'] : [`${count} lessons`, 'them']
  throw new ProblemError(
    'has_lessons',
    `The course has ${lessons}. Delete ${them} first, or use force=true to delete ${them} with the course.`,
  )
}

export async function hasProgress({ database }: Call, id: string): Promise<boolean> {
  return (await database.one(sql`select 1 from progress where course_id = ${id} limit 1`)) !== undefined
}

async function hasGrades({ database }: Call, id: string): Promise<boolean> {
  return (await database.one(sql`select 1 from grades where course_id = ${id} limit 1`)) !== undefined
}
