import sql, { join } from 'sql-template-tag'
import type { Database, Row } from '../database/database.ts'

/** Returns the titles of courses, by id. */
export function titlesOf(
  database: Pick<Database, 'all'>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  return mapOf(database, ids, sql`select id, title as name from courses`)
}

/** Returns the names of users, by id; users without one have their external id. */
export function namesOf(
  database: Pick<Database, 'all'>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const name = sql`trim(coalesce(profile ->> 'firstName', '') || ' ' || coalesce(profile ->> 'lastName', ''))`
  return mapOf(
    database,
    ids,
    sql`select id, coalesce(nullif(${name}, ''), external_id, id) as name from users`,
  )
}

async function mapOf(
  database: Pick<Database, 'all'>,
  ids: readonly string[],
  select: ReturnType<typeof sql>,
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map()
  const rows = await database.all<Row & { id: string; name: string }>(
    sql`${select} where id in (${join(ids)})`,
  )
  return new Map(rows.map(({ id, name }) => [id, name]))
}
