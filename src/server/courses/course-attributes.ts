import sql from 'sql-template-tag'
import type { Course, CourseInput } from '../../contract/courses.ts'
import type { IdPrefix } from '../database/id.ts'
import type { Call } from '../http/handler.ts'
import { pointerOf } from '../http/json.ts'
import { invalid } from '../problem-error.ts'

type Module = Course['modules'][number]

/** A course's input as it is stored: each module with its id and order. */
export type StoredInput = CourseInput & { readonly modules: Module[] }

/** Completes the modules of a course's input with ids and orders; throws 422 for an id of another course. */
export function withModuleIds(
  input: CourseInput,
  known: readonly Module[],
  newId: (prefix: IdPrefix) => string,
): StoredInput {
  const free = new Set(known.map(({ id }) => id))
  const faults = input.modules.flatMap(({ id }, index) => {
    if (id === undefined || free.delete(id)) return []
    const detail = known.some((module) => module.id === id)
      ? 'is used twice'
      : 'is not a module of this course; omit it to add a module'
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

/** Stores the current state of the course as a version. */
export function recordVersion(
  { database, principal, now }: Pick<Call, 'database' | 'principal' | 'now'>,
  course: Course,
  modified: readonly string[],
): void {
  const { id, version, createdAt, updatedAt, publishedAt, archivedAt, ...attributes } = course
  database.later(sql`
    insert into course_versions (course_id, version, attributes, modified_attributes, user_id, created_at)
    values (${id}, ${version}, ${JSON.stringify(attributes)}, ${JSON.stringify(modified)}, ${principal.userId}, ${now})`)
}
