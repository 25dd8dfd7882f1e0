import sql from 'sql-template-tag'
import {
  type Course,
  type CourseDiff,
  CourseInput,
  type CourseSnapshot,
  type CourseUpdate,
  type CourseVersion,
  type courses,
} from '../../contract/courses.ts'
import { resolve } from '../database/reference.ts'
import { contains } from '../database/search.ts'
import { type Call, requireVersion } from '../http/handler.ts'
import { findVisibleCourse, type StoredInput, toCourse, withModuleIds } from './course-row.ts'
import {
  changesBetween,
  entryOf,
  type History,
  type VersionRow,
  versionOf,
  versionsOf,
} from './version-history.ts'

interface CourseVersionRow extends VersionRow {
  readonly course_id: string
  readonly attributes: string
  readonly user_id: string
  readonly user_email: string | null
}

const history: History = {
  kind: 'course',
  table: 'course_versions',
  owner: 'course_id',
  columns: sql`v.course_id, v.version, v.attributes, v.modified_attributes, v.user_id,
    (select email from users where id = v.user_id) as user_email, v.created_at`,
}

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

/** Newest first. */
export async function listVersions(call: Call<typeof courses.versions>) {
  const { database, params, query } = call
  const { id } = await findVisibleCourse(call, params.courseId)
  return versionsOf(database, history, id, query, toVersion)
}

export async function getVersion(call: Call<typeof courses.version>): Promise<CourseSnapshot> {
  const row = await findVersion(call, call.params.courseId, call.params.version)
  return { ...toVersion(row), attributes: attributesIn(row) }
}

/** With another one, or the newest. */
export async function compareVersions(call: Call<typeof courses.diff>): Promise<CourseDiff> {
  const { courseId, version } = call.params
  const from = await findVersion(call, courseId, version)
  const newest = (await findVisibleCourse(call, courseId)).version
  const to = await findVersion(call, courseId, String(call.query.to ?? newest))
  return {
    courseId: from.course_id,
    from: from.version,
    to: to.version,
    changes: changesBetween(attributesIn(from), attributesIn(to)),
  }
}

/** Creates a new version with the attributes of an earlier one; id, external id and status stay. */
export async function restoreVersion(
  call: Call<typeof courses.restore>,
  change: (call: Call, current: Course, input: StoredInput) => Promise<CourseUpdate>,
): Promise<CourseUpdate> {
  const current = toCourse(await findVisibleCourse(call, call.params.courseId))
  const earlier = attributesIn(await findVersion(call, call.params.courseId, call.params.version))
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

/** Versions to search for a module that a course no longer has. */
const maxSearched = 100

/** Also those of earlier versions, if the input names a module that the course no longer has. */
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

async function findVersion(call: Call, reference: string, version: string): Promise<CourseVersionRow> {
  const { id } = await findVisibleCourse(call, reference)
  return versionOf(call.database, history, { id, reference, version })
}

function toVersion(row: CourseVersionRow): CourseVersion {
  return { courseId: row.course_id, userId: row.user_id, userEmail: row.user_email, ...entryOf(row) }
}

function attributesIn({ attributes }: Pick<CourseVersionRow, 'attributes'>): CourseSnapshot['attributes'] {
  const stored = JSON.parse(attributes) as CourseSnapshot['attributes']
  // Versions from before there were terms have none.
  return { ...stored, termId: stored.termId ?? null }
}
