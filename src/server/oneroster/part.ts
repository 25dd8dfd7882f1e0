import sql, { type Sql } from 'sql-template-tag'
import type { Database, Row } from '../database/database.ts'
import type { Condition } from '../database/keyset.ts'
import type { Narrowing, TablePart } from './collection.ts'

export const baseFields = ['sourcedId', 'status', 'dateLastModified'] as const

/** For records that never change. */
export const beginningOfTime = '1970-01-01T00:00:00.000Z'

export function active(sourcedId: string, dateLastModified: string, isActive = true) {
  return { sourcedId, status: isActive ? 'active' : 'tobedeleted', dateLastModified }
}

const nothing: readonly object[] = []

/** Each row is one record or none. */
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

/** Where the list is in the order of modification. */
export function since(narrowing: Narrowing, sort: string | undefined, modified: Sql): Condition {
  return (
    sort === 'dateLastModified' && narrowing.since !== undefined && sql`${modified} >= ${narrowing.since}`
  )
}

/** By its id in OneRoster. */
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
