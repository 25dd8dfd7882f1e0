import { isDeepStrictEqual } from 'node:util'
import sql from 'sql-template-tag'
import { isJsonObject } from '../../codec/json-object.ts'
import { CourseInput } from '../../contract/course-attributes.ts'
import type {
  Course,
  CourseDiff,
  CourseSnapshot,
  CourseUpdate,
  CourseVersion,
  courses,
} from '../../contract/courses.ts'
import type { Row } from '../database/database.ts'
import { page } from '../database/page.ts'
import type { Call } from '../http/handler.ts'
import { requireVersion } from '../http/handler.ts'
import { escapePointer } from '../http/json.ts'
import { notFound } from '../problem/problem-error.ts'
import { type StoredInput, withModuleIds } from './course-attributes.ts'
import { findCourse, toCourse } from './course-row.ts'

interface VersionRow extends Row {
  course_id: string
  version: number
  attributes: string
  modified_attributes: string
  user_id: string
  created_at: string
}

const columns = sql`v.course_id, v.version, v.attributes, v.modified_attributes, v.user_id, v.created_at`

/** The history of a course, newest first. */
export async function listVersions(call: Call<typeof courses.versions>) {
  const { id } = await findCourse(call.database, call.params.courseId)
  return page<VersionRow, CourseVersion>(
    call.database,
    {
      columns,
      from: sql`course_versions v`,
      within: [{ field: 'version', condition: sql`v.course_id = ${id}` }],
    },
    { sort: '-version', expressions: { version: sql`v.version` }, id: sql`v.course_id` },
    call.query,
    toVersion,
  )
}

/** A course as it was in one version. */
export async function getVersion(call: Call<typeof courses.version>): Promise<CourseSnapshot> {
  const row = await findVersion(call, call.params.courseId, call.params.version)
  return { ...toVersion(row), attributes: attributesIn(row) }
}

/** What differs between a version and another one, or the newest. */
export async function compareVersions(call: Call<typeof courses.diff>): Promise<CourseDiff> {
  const { courseId, version } = call.params
  const from = await findVersion(call, courseId, version)
  const newest = (await findCourse(call.database, courseId)).version
  const to = await findVersion(call, courseId, String(call.query.to ?? newest))
  return {
    courseId: from.course_id,
    from: from.version,
    to: to.version,
    changes: changesBetween(attributesIn(from), attributesIn(to)),
  }
}

/** Makes a new version with the attributes of an earlier one; the id, external id and status stay. */
export async function restoreVersion(
  call: Call<typeof courses.restore>,
  change: (call: Call, current: Course, input: StoredInput) => Promise<CourseUpdate>,
): Promise<CourseUpdate> {
  const current = toCourse(await findCourse(call.database, call.params.courseId))
  const earlier = attributesIn(await findVersion(call, call.params.courseId, call.params.version))
  requireVersion(call, current.version)
  const { externalId, status } = current
  const parsed = CourseInput.parse({ ...earlier, externalId, status })
  const input = withModuleIds(parsed, earlier.modules, call.newId)
  return change(call, current, input)
}

async function findVersion({ database }: Call, reference: string, version: string): Promise<VersionRow> {
  const { id } = await findCourse(database, reference)
  const row = /^[1-9]\d{0,9}$/.test(version)
    ? await database.one<VersionRow>(
        sql`select ${columns} from course_versions v where v.course_id = ${id} and v.version = ${Number(version)}`,
      )
    : undefined
  if (!row) throw notFound('version', `${version} of course ${reference}`)
  return row
}

function toVersion(row: VersionRow): CourseVersion {
  return {
    courseId: row.course_id,
    version: row.version,
    createdAt: row.created_at,
    userId: row.user_id,
    modifiedAttributes: JSON.parse(row.modified_attributes) as string[],
  }
}

function attributesIn({ attributes }: VersionRow): CourseSnapshot['attributes'] {
  return JSON.parse(attributes) as CourseSnapshot['attributes']
}

function changesBetween(from: unknown, to: unknown, pointer = ''): CourseDiff['changes'] {
  if (isDeepStrictEqual(from, to)) return []
  if (!isJsonObject(from) || !isJsonObject(to)) return [{ pointer, from: from ?? null, to: to ?? null }]
  return [...new Set([...Object.keys(from), ...Object.keys(to)])].flatMap((key) =>
    changesBetween(from[key], to[key], `${pointer}/${escapePointer(key)}`),
  )
}
