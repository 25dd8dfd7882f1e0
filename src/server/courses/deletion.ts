import sql from 'sql-template-tag'
import type { courses, DeletedCourse } from '../../contract/courses.ts'
import type { DeletedLesson, lessons } from '../../contract/lessons.ts'
import { visibleCourses, wasTaught } from '../access/sight.ts'
import { recordChange } from '../changes/change.ts'
import { storeRestoredCourse } from '../changes/row-changes.ts'
import type { Row } from '../database/database.ts'
import { during } from '../database/keyset.ts'
import { page } from '../database/page.ts'
import { kindOf, resolve, resolveFilter } from '../database/reference.ts'
import { copyToTrash, restorableUntil, type Trashed, takeFromTrash, trashEnd } from '../database/trash.ts'
import { type Call, requireVersion } from '../http/handler.ts'
import { notFound, ProblemError } from '../problem-error.ts'
import { findCourse, findVisibleCourse, requireOpen, toCourse } from './course-row.ts'
import { recordCourseVersion } from './course-versions.ts'
import { eraseForGood, findDeleted } from './deleted-records.ts'
import { makeRoom } from './lesson-places.ts'
import { findLesson, findVisibleLesson, toLesson } from './lesson-row.ts'
import { moduleOf, recordLesson } from './lesson-versions.ts'

/** With its lessons and learner data: to the trash, or permanently. */
export async function deleteCourse(call: Call<typeof courses.delete>): Promise<undefined> {
  const { database, params, query } = call
  if (query.erase && !(await resolve(database, 'courses', params.courseId))) {
    return eraseDeleted(call, 'courses', params.courseId)
  }
  const course = toCourse(await findVisibleCourse(call, params.courseId))
  const { id, version } = course
  requireVersion(call, version)
  if (!query.force) await requireDeletable(call, id)
  await trashOrErase(call, 'course', id, id)
  const action = query.erase ? 'course.erased' : 'course.deleted'
  await recordChange(call, { action, id, before: course, after: null })
  await database.run(sql`delete from courses where id = ${id} and version = ${version}`)
  return undefined
}

/** To the trash, or permanently. */
export async function deleteLesson(call: Call<typeof lessons.delete>): Promise<undefined> {
  const { database, params, query } = call
  if (query.erase && !(await resolve(database, 'lessons', params.lessonId))) {
    return eraseDeleted(call, 'lessons', params.lessonId)
  }
  const lesson = toLesson(await findVisibleLesson(call, params.lessonId))
  const { id, version, courseId } = lesson
  requireVersion(call, version)
  await requireOpen(call, await findCourse(database, courseId))
  await trashOrErase(call, 'lesson', id, courseId)
  await database.run(sql`delete from lessons where id = ${id} and version = ${version}`)
  const action = query.erase ? 'lesson.erased' : 'lesson.deleted'
  await recordChange(call, { action, id, before: lesson, after: null })
  return undefined
}

async function trashOrErase(
  call: Call<typeof courses.delete> | Call<typeof lessons.delete>,
  kind: Trashed,
  id: string,
  courseId: string,
): Promise<void> {
  const { database, now, principal } = call
  // A course includes its previously deleted lessons.
  if (call.query.erase) await eraseForGood(call, kind, id)
  else await copyToTrash(database, kind, { id, courseId, userId: principal.userId, now })
}

async function eraseDeleted(call: Call, table: 'courses' | 'lessons', reference: string): Promise<undefined> {
  const { id, version } = await requireDeleted(call, table, reference)
  requireVersion(call, version)
  const kind = table === 'courses' ? 'course' : 'lesson'
  await eraseForGood(call, kind, id)
  await recordChange(call, { action: `${kind}.erased`, id, before: null, after: null })
  return undefined
}

interface DeletedRow extends Row {
  readonly id: string
  readonly external_id: string | null
  readonly title: string
  readonly status: string
  readonly user_id: string
  readonly deleted_at: string
}

/** By default the most recent first. */
export function listDeletedCourses(call: Call<typeof courses.listDeleted>) {
  const { database, query, now } = call
  interface CourseRow extends DeletedRow {
    readonly lessons: number
    readonly enrollments: number
    readonly progress: number
    readonly grades: number
    readonly groups: number
  }
  return page<CourseRow, DeletedCourse>(
    database,
    {
      columns: sql`d.id, t.external_id, t.title, t.status, d.lessons, d.enrollments, d.progress, d.grades, d.groups, d.user_id, d.deleted_at`,
      from: sql`deletions d join deleted_courses t on t.id = d.id`,
      base: sql`deletions d`,
      by: [wasTaught(call, sql`d.course_id`)],
      within: [
        { field: 'deletedAt', condition: during(sql`d.deleted_at`, query) },
        { field: 'deletedAt', condition: sql`d.kind = 'course' and d.deleted_at > ${trashEnd(now)}` },
      ],
    },
    { sort: query.sort, expressions: { deletedAt: sql`d.deleted_at` }, id: sql`d.id` },
    query,
    ({ lessons, enrollments, progress, grades, groups, ...row }) => ({
      ...firstOf(row),
      status: row.status as DeletedCourse['status'],
      ...{ lessons, enrollments, progress, grades, groups },
      ...lastOf(row),
    }),
  )
}

/** By default the most recent first; without those deleted with their course. */
export async function listDeletedLessons(call: Call<typeof lessons.listDeleted>) {
  const { database, query, now } = call
  interface LessonRow extends DeletedRow {
    readonly course_id: string
    readonly position: number
  }
  const { course_id: course } = query
  const courseId =
    course && (await resolveFilter(database, 'courses', course, 'course_id', visibleCourses(call)))
  return page<LessonRow, DeletedLesson>(
    database,
    {
      columns: sql`d.id, t.external_id, d.course_id, t.title, t.position, t.status, d.user_id, d.deleted_at`,
      from: sql`deletions d join deleted_lessons t on t.id = d.id`,
      base: sql`deletions d`,
      by: [courseId === undefined && wasTaught(call, sql`d.course_id`)],
      within: [
        { field: 'deletedAt', condition: during(sql`d.deleted_at`, query) },
        { field: 'deletedAt', condition: sql`d.kind = 'lesson' and d.deleted_at > ${trashEnd(now)}` },
        { field: 'deletedAt', condition: courseId && sql`d.course_id = ${courseId}` },
      ],
    },
    { sort: query.sort, expressions: { deletedAt: sql`d.deleted_at` }, id: sql`d.id` },
    query,
    (row) => ({
      ...firstOf(row),
      courseId: row.course_id,
      order: row.position,
      status: row.status as DeletedLesson['status'],
      ...lastOf(row),
    }),
  )
}

/** With everything that was deleted with it. */
export async function restoreDeletedCourse(call: Call<typeof courses.restoreDeleted>) {
  const { id, version } = await requireDeleted(call, 'courses', call.params.deletedCourseId)
  requireVersion(call, version)
  await takeFromTrash(call.database, 'course', id)
  await releaseDeletedTerm(call, id)
  const course = toCourse(await findCourse(call.database, id))
  await recordChange(call, { action: 'course.restored', id, before: null, after: course })
  storeRestoredCourse(call, id)
  return course
}

/** Takes a restored course out of its term if the term was deleted meanwhile. */
async function releaseDeletedTerm(call: Call, id: string): Promise<void> {
  const released = await call.database.run(sql`
    update courses set term_id = null, version = version + 1, updated_at = ${call.now}
    where id = ${id} and term_id is not null and not exists (select 1 from terms t where t.id = courses.term_id)`)
  if (released === 0) return
  recordCourseVersion(call, toCourse(await findCourse(call.database, id)), ['termId'])
}

/** To its place; without its module if that no longer exists. */
export async function restoreDeletedLesson(call: Call<typeof lessons.restoreDeleted>) {
  const { database, now } = call
  const {
    id,
    version,
    course_id: courseId,
  } = await requireDeleted(call, 'lessons', call.params.deletedLessonId)
  requireVersion(call, version)
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

/** Throws 404 for one that cannot be restored. */
async function requireDeleted(call: Call, table: 'courses' | 'lessons', reference: string) {
  const deleted = await findDeleted(call, table, reference)
  if (!deleted) throw notFound(`deleted ${kindOf[table]}`, reference)
  return deleted
}

function firstOf({ id, external_id: externalId, title }: DeletedRow) {
  return { id, externalId, title }
}

function lastOf({ user_id: userId, deleted_at: deletedAt }: DeletedRow) {
  return { userId, deletedAt, restorableUntil: restorableUntil(deletedAt) }
}

/** Throws a ProblemError if learner data or content would be deleted. */
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
