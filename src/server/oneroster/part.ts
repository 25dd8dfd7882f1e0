import sql, { type Sql } from 'sql-template-tag'
import type { Database, Row } from '../database/database.ts'
import type { Condition } from '../database/keyset.ts'
import type { Narrowing, TablePart } from './collection.ts'

export const baseFields = ['sourcedId', 'status', 'dateLastModified'] as const

/** Time of records that never change. */
export const beginningOfTime = '1970-01-01T00:00:00.000Z'

/** Returns the fields of every record. */
export function active(sourcedId: string, dateLastModified: string, isActive = true) {
  return { sourcedId, status: isActive ? 'active' : 'tobedeleted', dateLastModified }
}

const nothing: readonly object[] = []

/** Returns a table part that shows each row as one record or none. */
export function partOf<Shape extends Row>(
  part: Omit<TablePart, 'show'>,
  show: (row: Shape) => object | undefined,
): TablePart {
  return {
    ...part,
    // The shape lists the columns.
    show: (rows) =>
      rows.map((row) => {
        const record = show(row as Shape)
        return record ? [record] : nothing
      }),
  }
}

/** Returns the condition on the time of a modification, where a list is in that order. */
export function since(narrowing: Narrowing, sort: string | undefined, modified: Sql): Condition {
  return (
    sort === 'dateLastModified' && narrowing.since !== undefined && sql`${modified} >= ${narrowing.since}`
  )
}

/** Returns the id of the record with this id in OneRoster. */
export async function idNamed(
  database: Database,
  table: 'terms' | 'users' | 'courses' | 'deleted_courses',
  sourcedId: string,
): Promise<string | undefined> {
  const query = {
    terms: (by: Sql) => sql`select id from terms where ${by}`,
    users: (by: Sql) => sql`select id from users where ${by}`,
    courses: (by: Sql) => sql`select id from courses where ${by}`,
    deleted_courses: (by: Sql) => sql`select id from deleted_courses where ${by}`,
  }[table]
  const external = await database.one<{ id: string }>(query(sql`external_id = ${sourcedId}`))
  if (external) return external.id
  const own = await database.one<{ id: string }>(query(sql`id = ${sourcedId} and external_id is null`))
  return own?.id
}
