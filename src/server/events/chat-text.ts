import sql, { join } from 'sql-template-tag'
import type { Database, Row } from '../database/database.ts'

/** A message for people, as plain text; each kind of chat formats and escapes it. */
export interface ChatMessage {
  readonly title: string
  readonly lines: readonly string[]
  /** URL of the dashboard; null if the server does not know its own address. */
  readonly link: string | null
}

/** Returns a value in one line, without characters that control the display. */
export function plainText(value: unknown): string {
  const line = String(value ?? '')
    .replace(/[\p{Cc}\s\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]+/gu, ' ')
    .trim()
  return line.length > maxTextLength ? `${line.slice(0, maxTextLength - 1).toWellFormed()}…` : line
}

/** Longest text of a field in a sentence. */
const maxTextLength = 200

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
