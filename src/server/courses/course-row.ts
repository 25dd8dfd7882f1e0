import sql, { raw, type Sql } from 'sql-template-tag'
import type { Course, CourseInput } from '../../contract/courses.ts'
import { type Asking, seenOnly, visibleCourses } from '../access/sight.ts'
import type { Database, Row } from '../database/database.ts'
import type { IdPrefix } from '../database/id.ts'
import { matchesReference } from '../database/reference.ts'
import { pointerOf } from '../http/request-body.ts'
import { invalid, notFound, ProblemError, parentNotFound } from '../problem-error.ts'

/** `attributes` is JSON of all fields that no query needs. */
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
  readonly created_by: string | null
  readonly term_id: string | null
  readonly term_name: string | null
  readonly term_external_id: string | null
}

/** A value of the course's term. Most courses have none, and looking for none takes as long as for one. */
function ofTerm(column: 'name' | 'external_id'): Sql {
  return sql`case when c.term_id is not null then (select t.${raw(column)} from terms t where t.id = c.term_id) end`
}

/** From `courses c`. */
export const courseColumns = sql`c.id, c.external_id, c.title, c.description, c.difficulty, c.status, c.attributes,
  c.managed_by, c.version, c.created_at, c.updated_at, c.published_at, c.archived_at, c.created_by, c.term_id,
  ${ofTerm('name')} as term_name, ${ofTerm('external_id')} as term_external_id`

/** `visible` is a condition on `c`; throws 404. */
export async function findCourse(database: Database, reference: string, visible?: Sql): Promise<CourseRow> {
  const row = await database.one<CourseRow>(
    sql`select ${courseColumns} from courses c where ${seenOnly(matchesReference('courses', reference), visible)}`,
  )
  if (!row) throw notFound('course', reference)
  return row
}

/** Throws 404, also for a learner and a draft. */
export function findVisibleCourse(call: Asking, reference: string): Promise<CourseRow> {
  const { sees } = call.principal
  const visible = sees === 'own' ? sql`c.status = 'published'` : visibleCourses(call, 'c')
  return findCourse(call.database, reference, visible)
}

type TermNames = Pick<CourseRow, 'term_id' | 'term_name' | 'term_external_id'>

/** Throws 404 that points to an unknown one. */
export async function findTermOf(
  database: Database,
  { termId }: Pick<CourseInput, 'termId'>,
): Promise<TermNames> {
  if (termId === null) return { term_id: null, term_name: null, term_external_id: null }
  const row = await database.one<TermNames & Row>(sql`
    select id as term_id, name as term_name, external_id as term_external_id from terms
    where ${matchesReference('terms', termId)}`)
  if (!row) throw parentNotFound('#/termId', 'term', termId)
  return row
}

export interface Opening {
  readonly isOpened?: ((id: string) => Promise<boolean>) | undefined
}

/** Throws 409 `course_archived`, unless the call is of a plan that names the course. */
export async function requireOpen(
  { isOpened }: Opening,
  course: Pick<CourseRow, 'id' | 'title' | 'status'>,
): Promise<void> {
  if (course.status !== 'archived' || !(await isOpened?.(course.id))) requireNotArchived(course)
}

/** Throws 409 `course_archived`, also for a change of its lessons, enrolments and progress. */
export function requireNotArchived({ title, status }: Pick<CourseRow, 'title' | 'status'>): void {
  if (status !== 'archived') return
  throw new ProblemError('course_archived', `Course ${title} is archived; publish it first.`)
}

/** Fields without a column. A new field is stored here without further code; existing courses need a migration. */
type Attributes = Omit<
  Course,
  | 'id'
  | 'externalId'
  | 'title'
  | 'description'
  | 'difficulty'
  | 'termId'
  | 'termName'
  | 'termExternalId'
  | 'managedBy'
  | 'status'
  | 'version'
  | 'createdAt'
  | 'updatedAt'
  | 'publishedAt'
  | 'archivedAt'
  | 'createdBy'
>

export function attributesOf(input: StoredInput): string {
  const { externalId, title, description, difficulty, termId, managedBy, status, ...attributes } = input
  return JSON.stringify(attributes satisfies Attributes)
}

type Module = Course['modules'][number]

export type StoredInput = CourseInput & { readonly modules: Module[] }

/** Throws 422 for an id of a module that is not known. */
export function withModuleIds(
  input: CourseInput,
  known: readonly Pick<Module, 'id'>[],
  newId: (prefix: IdPrefix) => string,
): StoredInput {
  const free = new Set(known.map(({ id }) => id))
  const faults = input.modules.flatMap(({ id }, index) => {
    if (id === undefined || free.delete(id)) return []
    const detail = known.some((module) => module.id === id)
      ? 'is used twice'
      : 'is not a module of this course, nor was one; omit it to add a module'
    return [{ pointer: pointerOf(['modules', index, 'id']), code: 'unknown_id', detail }]
  })
  if (faults.length > 0) throw invalid(faults)
  const modules = input.modules.map(({ id, title, description, order }, index) => ({
    id: id ?? newId('mod'),
    title,
    description,
    order: order ?? index + 1,
  }))
  return { ...input, modules: modules.sort((one, other) => one.order - other.order) }
}

export function toCourse(row: CourseRow): Course {
  // Written by `attributesOf`.
  return { ...firstOf(row), ...(JSON.parse(row.attributes) as Attributes), ...lastOf(row) }
}

/** Copies the attributes unparsed: parsing and writing them is most of the time of a list. */
export function toCourseText(row: CourseRow): string {
  const [first, last] = [JSON.stringify(firstOf(row)), JSON.stringify(lastOf(row))]
  return `${first.slice(0, -1)},${row.attributes.slice(1, -1)},${last.slice(1)}`
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
    termId: row.term_id,
    managedBy: row.managed_by,
    status: row.status as Course['status'],
    termName: row.term_name,
    termExternalId: row.term_external_id,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    publishedAt: row.published_at,
    archivedAt: row.archived_at,
    createdBy: row.created_by,
  }
}
