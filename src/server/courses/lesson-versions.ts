import sql, { type Sql } from 'sql-template-tag'
import { type Lesson, LessonInput, type LessonSnapshot, type lessons } from '../../contract/lessons.ts'
import { type Call, requireVersion } from '../http/handler.ts'
import { findCourse } from './course-row.ts'
import { findVisibleLesson, type LessonRow, toLesson } from './lesson-row.ts'
import { type VersionRow, versionsOf } from './version-history.ts'

export const lessonVersions = versionsOf<'lesson', VersionRow & LessonRow, LessonSnapshot['attributes']>({
  kind: 'lesson',
  columns: sql`v.external_id, v.course_id, (select title from courses where id = v.course_id) as course_title,
    v.module_id, v.title, v.description, v.position, v.duration_minutes, v.due_at, v.status, v.content, v.managed_by,
    v.created_at as updated_at`,
  attributesIn: (row) => {
    const { id, courseTitle, version, createdAt, updatedAt, ...attributes } = toLesson(row)
    return attributes
  },
  find: findVisibleLesson,
})

export function recordLesson(call: Call, id: string, modified: readonly string[]): void {
  record(call, sql`l.id = ${id}`, modified)
}

export function recordLessonsOf(call: Call, courseId: string, modified: readonly string[]): void {
  const isKept = sql`select 1 from lesson_versions v where v.lesson_id = l.id and v.version = l.version`
  record(call, sql`l.course_id = ${courseId} and not exists (${isKept})`, modified)
}

function record({ database, principal, now }: Call, which: Sql, modified: readonly string[]): void {
  database.queue(sql`
    insert into lesson_versions (lesson_id, version, external_id, course_id, module_id, title, description, position,
                                 duration_minutes, due_at, status, content, managed_by, modified_attributes, user_id, created_at)
    select l.id, l.version, l.external_id, l.course_id, l.module_id, l.title, l.description, l.position,
           l.duration_minutes, l.due_at, l.status, l.content, l.managed_by, ${JSON.stringify(modified)}, ${principal.userId}, ${now}
    from lessons l where ${which}`)
}

/**
 * Creates a new version with the attributes of an earlier one; id, external id, status and course stay. Place
 * and module are restored if they belong to this course.
 */
export async function restoreLessonVersion(
  call: Call<typeof lessons.restore>,
  change: (call: Call, current: Lesson, input: LessonInput) => Promise<Lesson>,
): Promise<Lesson> {
  const current = toLesson(await findVisibleLesson(call, call.params.lessonId))
  const earlier = await lessonVersions.attributesAt(call)
  requireVersion(call, current.version)
  const { externalId, status, courseId } = current
  const isHere = earlier.courseId === courseId
  const moduleId = isHere ? await moduleOf(call, courseId, earlier.moduleId) : current.moduleId
  const order = isHere ? earlier.order : current.order
  const unchanged = { externalId, status, courseId, moduleId, order }
  return change(call, current, LessonInput.parse({ ...earlier, ...unchanged }))
}

export async function moduleOf(
  { database }: Call,
  courseId: string,
  moduleId: string | null,
): Promise<string | null> {
  // Written by `attributesOf`.
  const { modules } = JSON.parse((await findCourse(database, courseId)).attributes) as {
    modules: { id: string }[]
  }
  return modules.some(({ id }) => id === moduleId) ? moduleId : null
}
