import sql, { empty, join } from 'sql-template-tag'
import { difficulties } from '../../contract/constants.ts'
import {
  Course,
  CourseInput,
  type CourseUpdate,
  courses,
  type DeletedCourse,
} from '../../contract/courses.ts'
import { visibleRows } from '../access/sight.ts'
import { recordChange, recordUpdate } from '../changes/change.ts'
import { requireUnique } from '../database/reference.ts'
import { courseSearchKey, titleKey } from '../database/search.ts'
import { type Call, requireVersion } from '../http/handler.ts'
import { changedFields } from '../http/request-body.ts'
import { resourceOf, routesOf } from '../http/schema-routes.ts'
import { ProblemError } from '../problem-error.ts'
import { courseReads } from './course-reads.ts'
import {
  attributesOf,
  findCourse,
  findTermOf,
  findVisibleCourse,
  type StoredInput,
  toCourse,
  withModuleIds,
} from './course-row.ts'
import { courseVersions, knownModules, recordCourseVersion, restoreVersion } from './course-versions.ts'
import { listDeleted } from './deleted-records.ts'
import { deleteCourse, hasProgress, restoreDeletedCourse } from './deletion.ts'
import { changeLessonsOf } from './lesson-places.ts'

const transitions: Readonly<Record<Course['status'], readonly Course['status'][]>> = {
  draft: ['published', 'archived'],
  published: ['archived', 'draft'],
  archived: ['published'],
}

const actionByStatus = {
  draft: 'course.unpublished',
  published: 'course.published',
  archived: 'course.archived',
} as const

const deletedColumns = sql`t.title, t.status, d.lessons, d.enrollments, d.progress, d.grades, d.groups`

export type Regrade = (call: Call, before: Course, course: Course) => Promise<CourseUpdate['warnings']>

export const courseReadRoutes = routesOf({ list: courses.list, get: courses.get }, courseReads)

export function courseRoutesWith(regrade: Regrade) {
  async function change(call: Call, current: Course, input: StoredInput): Promise<CourseUpdate> {
    const update = await changeCourse(call, current, input)
    if (!update.modifiedAttributes.includes('assessmentCriteria')) return update
    const warnings = (await regrade(call, current, update.course)) ?? []
    return warnings.length > 0 ? { ...update, warnings } : update
  }

  return routesOf(courses, {
    ...courseReads,

    async create(call) {
      const input = withModuleIds(resourceOf(call, CourseInput, Course), [], call.newId)
      const isArchived = input.status === 'archived'
      if (isArchived && !call.isOpened) throw badTransition('new', 'archived', ['draft', 'published'])
      const term = await findTermOf(call.database, input)
      await requireUnique(call.database, 'courses', input, undefined, visibleRows(call, 'courses'))
      const { now } = call
      const createdBy = call.principal.userId
      const id = call.newId('crs')
      const attributes = attributesOf(input)
      const publishedAt = input.status === 'draft' ? null : now
      const archivedAt = isArchived ? now : null
      call.database.queue(sql`
        insert into courses (id, external_id, title, title_key, description, search_key, difficulty, level, status,
                             attributes, managed_by, version, created_at, updated_at, published_at, archived_at,
                             created_by, term_id, passing_score)
        values (${id}, ${input.externalId}, ${input.title}, ${titleKey(input)}, ${input.description},
                ${courseSearchKey(input)}, ${input.difficulty}, ${difficulties.indexOf(input.difficulty)}, ${input.status}, ${attributes},
                ${input.managedBy}, 1, ${now}, ${now}, ${publishedAt}, ${archivedAt}, ${createdBy}, ${term.term_id},
                ${input.assessmentCriteria.passingScore})`)
      addTags(call, id, input.tags)
      // The row equals the input, so it need not be read again.
      const { title, description, difficulty, status, externalId, managedBy } = input
      const course = toCourse({
        ...{
          id,
          external_id: externalId,
          title,
          description,
          difficulty,
          status,
          attributes,
          managed_by: managedBy,
          ...term,
        },
        ...{
          version: 1,
          created_at: now,
          updated_at: now,
          published_at: publishedAt,
          archived_at: archivedAt,
          created_by: createdBy,
        },
      })
      recordCourseVersion(call, course, [])
      await recordChange(call, { action: 'course.created', id, before: null, after: course })
      return course
    },

    async update(call) {
      const row = await findVisibleCourse(call, call.params.courseId)
      const current = toCourse(row)
      const sent = resourceOf(call, CourseInput, Course, current)
      const input = withModuleIds(sent, await knownModules(call, current, sent), call.newId)
      const { term_id: termId } = sent.termId === current.termId ? row : await findTermOf(call.database, sent)
      requireVersion(call, current.version)
      return change(call, current, { ...input, termId })
    },

    delete: deleteCourse,
    versions: courseVersions.list,
    version: courseVersions.get,
    diff: courseVersions.compare,
    restore: (call) => restoreVersion(call, change),
    listDeleted: (call) => listDeleted<DeletedCourse>(call, 'courses', deletedColumns),
    restoreDeleted: restoreDeletedCourse,
  })
}

/** As a new version; without changes, version and times stay. */
async function changeCourse(call: Call, current: Course, input: StoredInput): Promise<CourseUpdate> {
  const changed = changedFields(input, current)
  const isClosed = current.status === 'archived' && changed.some((key) => key !== 'status')
  if (isClosed && !(await call.isOpened?.(current.id))) {
    throw new ProblemError(
      'course_archived',
      'An archived course cannot be changed, except for its status; publish it first.',
    )
  }
  await requireTransition(call, current, input.status)
  if (changed.includes('externalId')) {
    await requireUnique(call.database, 'courses', input, current.id, visibleRows(call, 'courses'))
  }
  if (changed.length === 0) return updateOf(current, current, changed)
  const { now, database } = call
  const moved = (status: Course['status'], before: string | null) =>
    input.status === status && current.status !== status ? now : before
  await database.run(sql`
    update courses set
      external_id = ${input.externalId}, title = ${input.title}, title_key = ${titleKey(input)},
      description = ${input.description}, search_key = ${courseSearchKey(input)}, difficulty = ${input.difficulty},
      level = ${difficulties.indexOf(input.difficulty)}, status = ${input.status}, attributes = ${attributesOf(input)},
      passing_score = ${input.assessmentCriteria.passingScore}, managed_by = ${input.managedBy}, term_id = ${input.termId}, version = version + 1, updated_at = ${now},
      published_at = ${moved('published', current.publishedAt)},
      archived_at = ${input.status === 'archived' ? moved('archived', current.archivedAt) : null}
    where id = ${current.id} and version = ${current.version}`)
  if (changed.includes('tags')) {
    await database.run(sql`delete from course_tags where course_id = ${current.id}`)
    addTags(call, current.id, input.tags)
  }
  if (changed.includes('modules')) await releaseLessons(call, current.id, input)
  const course = toCourse(await findCourse(database, current.id))
  recordCourseVersion(call, course, changed)
  await recordUpdate(call, 'course', current, course, actionByStatus[course.status])
  return updateOf(current, course, changed)
}

function updateOf(current: Course, course: Course, changed: readonly string[]): CourseUpdate {
  const { id, version, updatedAt } = course
  return {
    id,
    version,
    previousVersion: current.version,
    updatedAt,
    modifiedAttributes: [...changed],
    course,
  }
}

async function requireTransition(
  call: Call,
  { id, title, status: from }: Course,
  to: Course['status'],
): Promise<void> {
  if (from === to) return
  const allowed = transitions[from]
  // A plan says how records are in the end, not each step to it.
  const isOnTheWay = call.isOpened !== undefined && from === 'archived'
  if (!allowed.includes(to) && !isOnTheWay) throw badTransition(from, to, allowed)
  if (to === 'draft' && (await hasProgress(call, id))) {
    throw badTransition(from, to, ['archived'], 'while learners have progress in it', `Course ${title}`)
  }
}

function badTransition(
  from: string,
  to: string,
  allowed: readonly string[],
  why = '',
  subject = `${from === 'archived' ? 'An' : 'A'} ${from} course`,
): ProblemError {
  return new ProblemError(
    'invalid_transition',
    `${subject} cannot become ${to}${why ? ` ${why}` : ''}; it can become ${allowed.join(' or ')}.`,
    { members: { from, to, allowed } },
  )
}

async function releaseLessons(call: Call, id: string, { modules }: CourseInput): Promise<void> {
  const moduleIds = modules.map((module) => module.id ?? '')
  const isRemoved = moduleIds.length > 0 ? sql`and module_id not in (${join(moduleIds)})` : empty
  await changeLessonsOf(call, id, {
    which: sql`module_id is not null ${isRemoved}`,
    set: sql`module_id = null`,
    changed: () => ({ moduleId: null }),
  })
}

function addTags({ database }: Call, courseId: string, tags: readonly string[]): void {
  for (const tag of new Set(tags)) {
    database.queue(sql`insert into course_tags (tag, course_id) values (${tag}, ${courseId})`)
  }
}
