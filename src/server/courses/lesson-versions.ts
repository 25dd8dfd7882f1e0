import sql, { type Sql } from 'sql-template-tag'
import {
  type Lesson,
  type LessonDiff,
  LessonInput,
  type LessonSnapshot,
  type LessonVersion,
  type lessons,
} from '../../contract/lessons.ts'
import { type Call, requireVersion } from '../http/handler.ts'
import { findCourse } from './course-row.ts'
import { findVisibleLesson, type LessonRow, toLesson } from './lesson-row.ts'
import {
  changesBetween,
  entryOf,
  type History,
  type VersionRow,
  versionOf,
  versionsOf,
} from './version-history.ts'

type LessonVersionRow = VersionRow &
  LessonRow & { readonly user_id: string | null; readonly user_email: string | null }

const history: History = {
  kind: 'lesson',
  table: 'lesson_versions',
  owner: 'lesson_id',
  columns: sql`v.lesson_id as id, v.version, v.external_id, v.course_id,
    (select title from courses where id = v.course_id) as course_title, v.module_id, v.title, v.description, v.position,
    v.duration_minutes, v.due_at, v.status, v.content, v.managed_by, v.modified_attributes, v.user_id,
    (select email from users where id = v.user_id) as user_email, v.created_at, v.created_at as updated_at`,
}

/** Stores the current state as a version. */
export function recordLesson(call: Call, id: string, modified: readonly string[]): void {
  record(call, sql`l.id = ${id}`, modified)
}

/** Stores the current state of the lessons that have changed. */
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

/** Newest first. */
export async function listLessonVersions(call: Call<typeof lessons.versions>) {
  const { database, params, query } = call
  const { id } = await findVisibleLesson(call, params.lessonId)
  return versionsOf(database, history, id, query, toVersion)
}

export async function getLessonVersion(call: Call<typeof lessons.version>): Promise<LessonSnapshot> {
  const row = await findVersion(call, call.params.lessonId, call.params.version)
  return { ...toVersion(row), attributes: attributesIn(row) }
}

/** With another one, or the newest. */
export async function compareLessonVersions(call: Call<typeof lessons.diff>): Promise<LessonDiff> {
  const { lessonId, version } = call.params
  const from = await findVersion(call, lessonId, version)
  const newest = (await findVisibleLesson(call, lessonId)).version
  const to = await findVersion(call, lessonId, String(call.query.to ?? newest))
  return {
    lessonId: from.id,
    from: from.version,
    to: to.version,
    changes: changesBetween(attributesIn(from), attributesIn(to)),
  }
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
  const earlier = attributesIn(await findVersion(call, call.params.lessonId, call.params.version))
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

async function findVersion(call: Call, reference: string, version: string): Promise<LessonVersionRow> {
  const { id } = await findVisibleLesson(call, reference)
  return versionOf(call.database, history, { id, reference, version })
}

function toVersion(row: LessonVersionRow): LessonVersion {
  return { lessonId: row.id, userId: row.user_id, userEmail: row.user_email, ...entryOf(row) }
}

function attributesIn(row: LessonVersionRow): LessonSnapshot['attributes'] {
  const { id, courseTitle, version, createdAt, updatedAt, ...attributes } = toLesson(row)
  return attributes
}
