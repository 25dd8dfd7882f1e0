import sql from 'sql-template-tag'
import {
  type Course,
  CourseInput,
  type CourseSnapshot,
  type CourseUpdate,
  type courses,
} from '../../contract/courses.ts'
import { resolve } from '../database/reference.ts'
import { contains } from '../database/search.ts'
import { type Call, requireVersion } from '../http/handler.ts'
import { findVisibleCourse, type StoredInput, toCourse, withModuleIds } from './course-row.ts'
import { type VersionRow, versionsOf } from './version-history.ts'

interface CourseVersionRow extends VersionRow {
  readonly attributes: string
}

export const courseVersions = versionsOf<'course', CourseVersionRow, CourseSnapshot['attributes']>({
  kind: 'course',
  columns: sql`v.attributes`,
  attributesIn,
  find: findVisibleCourse,
})

export function recordCourseVersion(
  { database, principal, now }: Pick<Call, 'database' | 'principal' | 'now'>,
  course: Course,
  modified: readonly string[],
): void {
  const {
    id,
    termName,
    termExternalId,
    version,
    createdAt,
    updatedAt,
    publishedAt,
    archivedAt,
    createdBy,
    ...attributes
  } = course
  database.queue(sql`
    insert into course_versions (course_id, version, attributes, modified_attributes, user_id, created_at)
    values (${id}, ${version}, ${JSON.stringify(attributes)}, ${JSON.stringify(modified)}, ${principal.userId}, ${now})`)
}

/** Creates a new version with the attributes of an earlier one; id, external id and status stay. */
export async function restoreVersion(
  call: Call<typeof courses.restore>,
  change: (call: Call, current: Course, input: StoredInput) => Promise<CourseUpdate>,
): Promise<CourseUpdate> {
  const current = toCourse(await findVisibleCourse(call, call.params.courseId))
  const earlier = await courseVersions.attributesAt(call)
  requireVersion(call, current.version)
  const { externalId, status } = current
  // A term that was deleted since cannot come back with the version.
  const termId =
    earlier.termId && (await resolve(call.database, 'terms', earlier.termId))
      ? earlier.termId
      : current.termId
  const parsed = CourseInput.parse({ ...earlier, externalId, status, termId })
  const input = withModuleIds(parsed, earlier.modules, call.newId)
  return change(call, current, input)
}

const maxSearched = 100

/** Also those of earlier versions, if the input names one that the course no longer has. */
export async function knownModules(
  { database }: Pick<Call, 'database'>,
  { id, modules }: Course,
  sent: CourseInput,
): Promise<readonly Pick<Course['modules'][number], 'id'>[]> {
  const ids = new Set(modules.map((module) => module.id))
  if (sent.modules.every((module) => module.id === undefined || ids.has(module.id))) return modules
  const versions = await database.all<Pick<CourseVersionRow, 'attributes'>>(sql`
    select v.attributes from course_versions v
    where v.course_id = ${id} and (v.version = 1 or ${contains(sql`v.modified_attributes`, '"modules"')})
    order by v.version desc limit ${maxSearched}`)
  for (const version of versions) for (const module of attributesIn(version).modules) ids.add(module.id)
  return [...ids].map((id) => ({ id }))
}

function attributesIn({ attributes }: Pick<CourseVersionRow, 'attributes'>): CourseSnapshot['attributes'] {
  const stored = JSON.parse(attributes) as CourseSnapshot['attributes']
  // Versions from before there were terms have none.
  return { ...stored, termId: stored.termId ?? null }
}
