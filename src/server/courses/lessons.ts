import sql from 'sql-template-tag'
import { type DeletedLesson, Lesson, LessonInput, lessons } from '../../contract/lessons.ts'
import { courseFilter, isTaught, visibleCourses, visibleRows } from '../access/sight.ts'
import { recordChange, recordUpdate } from '../changes/change.ts'
import { during, page } from '../database/page.ts'
import { requireUnique, resolve } from '../database/reference.ts'
import { titleKey } from '../database/search.ts'
import { type Call, isRole, requireVersion } from '../http/handler.ts'
import { changedFields } from '../http/request-body.ts'
import { resourceOf, routesOf } from '../http/schema-routes.ts'
import { invalid, parentNotFound } from '../problem-error.ts'
import { findCourse, requireOpen } from './course-row.ts'
import { listDeleted } from './deleted-records.ts'
import { deleteLesson, restoreDeletedLesson } from './deletion.ts'
import { findNextPlace, makeRoom } from './lesson-places.ts'
import {
  contentOf,
  findLesson,
  findVisibleLesson,
  hideAnswers,
  isPublished,
  type LessonRow,
  lessonColumns,
  toLesson,
  withContentIds,
} from './lesson-row.ts'
import { lessonVersions, recordLesson, restoreLessonVersion } from './lesson-versions.ts'

const order = {
  order: sql`l.position`,
  createdAt: sql`l.created_at`,
  updatedAt: sql`l.updated_at`,
  title: sql`l.title_key`,
}

const actionByStatus = { draft: 'lesson.unpublished', published: 'lesson.published' } as const

export const lessonRoutes = routesOf(lessons, {
  async list(call) {
    const { query, database } = call
    const course = await courseFilter(call, sql`l.course_id`, query.course_id)
    return page<LessonRow, Lesson>(
      database,
      {
        columns: lessonColumns,
        from: sql`lessons l join courses c on c.id = l.course_id`,
        base: sql`lessons l`,
        where: [isRole(call, 'learner') && isPublished],
        within: [
          { field: 'createdAt', condition: during(order.createdAt, query) },
          {
            field: 'updatedAt',
            condition: during(sql`l.updated_at`, { since: query.updated_since }),
          },
        ],
        by: [
          course,
          query.course_id === undefined && isTaught(call, sql`l.course_id`),
          query.module_id && sql`l.module_id = ${query.module_id}`,
          query.external_id && sql`l.external_id = ${query.external_id}`,
        ],
        narrow: [query.status && sql`l.status = ${query.status}`],
      },
      { sort: query.sort, expressions: order, id: sql`l.id` },
      query,
      (row) => show(call, row),
    )
  },

  get: async (call) => show(call, await findVisibleLesson(call, call.params.lessonId)),

  async create(call) {
    const input = withContentIds(resourceOf(call, LessonInput, Lesson), call.newId)
    const courseId = await requireOpenCourseId(call, input)
    await requireUnique(call.database, 'lessons', input, undefined, visibleRows(call, 'lessons'))
    const id = call.newId('les')
    const position = input.order ?? (await findNextPlace(call, courseId))
    await makeRoom(call, courseId, position)
    await call.database.run(sql`
      insert into lessons (id, external_id, course_id, module_id, title, title_key, description, position, duration_minutes,
                           due_at, status, content, managed_by, version, created_at, updated_at)
      values (${id}, ${input.externalId}, ${courseId}, ${input.moduleId}, ${input.title}, ${titleKey(input)}, ${input.description},
              ${position}, ${input.durationMinutes}, ${input.dueAt}, ${input.status}, ${contentOf(input)},
              ${input.managedBy}, 1, ${call.now}, ${call.now})`)
    recordLesson(call, id, [])
    const row = await findLesson(call.database, id)
    await recordChange(call, { action: 'lesson.created', id, before: null, after: toLesson(row) })
    return show(call, row)
  },

  async update(call) {
    const current = toLesson(await findVisibleLesson(call, call.params.lessonId))
    const parsed = resourceOf(call, LessonInput, Lesson, current)
    requireVersion(call, current.version)
    return changeLesson(call, current, parsed)
  },

  delete: deleteLesson,
  versions: lessonVersions.list,
  version: lessonVersions.get,
  diff: lessonVersions.compare,
  restore: (call) => restoreLessonVersion(call, changeLesson),
  listDeleted: (call) =>
    listDeleted<DeletedLesson>(call, 'lessons', sql`d.course_id, t.title, t.position as "order", t.status`),
  restoreDeleted: restoreDeletedLesson,
})

/** As a new version; without changes, version and times stay. */
async function changeLesson(call: Call, current: Lesson, parsed: LessonInput): Promise<Lesson> {
  const courseId = await requireOpenCourseId(call, parsed, current)
  const order = parsed.order ?? (await findNextPlace(call, courseId, current.id))
  const input = { ...withContentIds(parsed, call.newId), courseId, order }
  const changed = changedFields(input, current)
  if (changed.length === 0) return current
  if (changed.includes('externalId')) {
    await requireUnique(call.database, 'lessons', input, current.id, visibleRows(call, 'lessons'))
  }
  await makeRoom(call, courseId, order, current.id)
  await call.database.run(sql`
    update lessons set
      external_id = ${input.externalId}, course_id = ${courseId}, module_id = ${input.moduleId},
      title = ${input.title}, title_key = ${titleKey(input)}, description = ${input.description}, position = ${order},
      duration_minutes = ${input.durationMinutes}, due_at = ${input.dueAt}, status = ${input.status}, content = ${contentOf(input)},
      managed_by = ${input.managedBy}, version = version + 1, updated_at = ${call.now}
    where id = ${current.id} and version = ${current.version}`)
  recordLesson(call, current.id, changed)
  const lesson = toLesson(await findLesson(call.database, current.id))
  await recordUpdate(call, 'lesson', current, lesson, actionByStatus[lesson.status])
  return lesson
}

/** Throws if the course is unknown or archived, and for a module of another course. */
async function requireOpenCourseId(
  call: Call,
  { courseId: reference, moduleId }: Pick<LessonInput, 'courseId' | 'moduleId'>,
  current?: Lesson,
): Promise<string> {
  const { database } = call
  const id = await resolve(database, 'courses', reference, visibleCourses(call))
  if (!id) throw parentNotFound('#/courseId', 'course', reference)
  const course = await findCourse(database, id)
  const { modules } = JSON.parse(course.attributes) as { modules: { id: string }[] }
  if (moduleId !== null && !modules.some((module) => module.id === moduleId)) {
    const detail = `is not a module of course ${id}`
    throw invalid([{ pointer: '#/moduleId', code: 'unknown_module', detail }])
  }
  for (const open of [
    course,
    ...(current && current.courseId !== id ? [await findCourse(database, current.courseId)] : []),
  ]) {
    await requireOpen(call, open)
  }
  return id
}

function show(call: Call, row: LessonRow): Lesson {
  const lesson = toLesson(row)
  return isRole(call, 'learner') ? hideAnswers(lesson) : lesson
}
