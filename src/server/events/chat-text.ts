import sql, { join } from 'sql-template-tag'
import type { Database, Row } from '../database/database.ts'

/** Plain text; each kind of chat formats and escapes it. */
export interface ChatMessage {
  readonly title: string
  readonly lines: readonly string[]
  /** URL of the dashboard; null if the server does not know its own address. */
  readonly link: string | null
}

/** In one line, without characters that control the display. */
export function plainText(value: unknown): string {
  const line = String(value ?? '')
    .replace(/[\p{Cc}\s\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]+/gu, ' ')
    .trim()
  return line.length > maxTextLength ? `${line.slice(0, maxTextLength - 1).toWellFormed()}…` : line
}

const maxTextLength = 200

export function titlesOf(
  database: Pick<Database, 'all'>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  return mapOf(database, ids, sql`select id, title as name from courses`)
}

/** By id; users without a name have their external id. */
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
