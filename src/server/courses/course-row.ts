import sql, { type Sql } from 'sql-template-tag'
import type { Course } from '../../contract/courses.ts'
import type { Database, Row } from '../database/database.ts'
import { isReferred } from '../database/reference.ts'
import { onlyUserOf } from '../http/handler.ts'
import { notFound, ProblemError } from '../problem/problem-error.ts'
import type { StoredInput } from './course-attributes.ts'

/** A course as its row holds it; `attributes` is JSON of what no query asks for. */
export interface CourseRow extends Row {
  readonly id: string
  readonly external_id: string | null
  readonly title: string
  readonly description: string
  readonly difficulty: string
  readonly status: string
  readonly attributes: string
  readonly managed_by: string | null
  readonly version: number
  readonly created_at: string
  readonly updated_at: string
  readonly published_at: string | null
  readonly archived_at: string | null
}

/** The columns of a course row, from `courses c`. */
export const courseColumns = sql`c.id, c.external_id, c.title, c.description, c.difficulty, c.status, c.attributes,
  c.managed_by, c.version, c.created_at, c.updated_at, c.published_at, c.archived_at`

/** The stored course behind a reference; throws 404, for drafts too where only published ones are to be seen. */
export async function findCourse(
  database: Database,
  reference: string,
  publishedOnly = false,
): Promise<CourseRow> {
  const row = await database.one<CourseRow>(
    sql`select ${courseColumns} from courses c where ${isReferred('courses', reference)}`,
  )
  if (!row || (publishedOnly && row.status !== 'published')) throw notFound('course', reference)
  return row
}

/**
 * The courses that a caller may know of, as a condition on `courses`; undefined for all. A learner sees what is published,
 * and what their own enrolments and progress name: of anything else, nothing may tell whether it is there.
 */
export function knownCourses(call: Parameters<typeof onlyUserOf>[0]): Sql | undefined {
  const learnerId = onlyUserOf(call)
  if (learnerId === undefined) return undefined
  return sql`(status = 'published'
    or exists (select 1 from enrollments e where e.course_id = courses.id and e.user_id = ${learnerId})
    or exists (select 1 from progress p where p.course_id = courses.id and p.user_id = ${learnerId}))`
}

/** Throws 409 `course_archived`: an archived course is closed, with its lessons, enrolments and progress. */
export function requireNotArchived({ title, status }: Pick<CourseRow, 'title' | 'status'>): void {
  if (status !== 'archived') return
  throw new ProblemError('course_archived', `Course ${title} is archived; publish it first.`)
}

/**
 * What of a course has no column of its own. A field that is new to the contract is stored here by itself; the courses
 * that are there already need a step of the schema that gives them its default.
 */
type Attributes = Omit<
  Course,
  | 'id'
  | 'externalId'
  | 'title'
  | 'description'
  | 'difficulty'
  | 'managedBy'
  | 'status'
  | 'version'
  | 'createdAt'
  | 'updatedAt'
  | 'publishedAt'
  | 'archivedAt'
>

/** The column `attributes`, as JSON text: all of a course's input that has no column of its own. */
export function attributesOf(input: StoredInput): string {
  const { externalId, title, description, difficulty, managedBy, status, ...attributes } = input
  return JSON.stringify(attributes satisfies Attributes)
}

/** A course as it is shown, from its row. */
export function toCourse(row: CourseRow): Course {
  // Written by `attributesOf`.
  return { ...firstOf(row), ...(JSON.parse(row.attributes) as Attributes), ...lastOf(row) }
}

/** The same as JSON: to read the attributes and write them again is most of what a list takes. */
export function courseText(row: CourseRow): string {
  const text = JSON.stringify({ ...firstOf(row), ...lastOf(row) })
  // No text of a course has it: in one, quotes are escaped.
  const between = text.indexOf(',"managedBy":')
  return `${text.slice(0, between)},${row.attributes.slice(1, -1)}${text.slice(between)}`
}

function firstOf(row: CourseRow) {
  return {
    id: row.id,
    externalId: row.external_id,
    title: row.title,
    description: row.description,
    difficulty: row.difficulty as Course['difficulty'],
  }
}

function lastOf(row: CourseRow) {
  return {
    managedBy: row.managed_by,
    status: row.status as Course['status'],
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    publishedAt: row.published_at,
    archivedAt: row.archived_at,
  }
}
