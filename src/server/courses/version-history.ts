import { isDeepStrictEqual } from 'node:util'
import sql, { raw, type Sql } from 'sql-template-tag'
import { isJsonObject } from '../../codec/json-text.ts'
import type { Changes } from '../../contract/record-fields.ts'
import type { Database, Row } from '../database/database.ts'
import { during, type Page, type Period, page } from '../database/page.ts'
import { escapePointer } from '../http/request-body.ts'
import { notFound } from '../problem-error.ts'

export interface VersionRow extends Row {
  readonly version: number
  readonly modified_attributes: string
  readonly created_at: string
}

export interface History {
  /** In problems, such as `course`. */
  readonly kind: string
  readonly table: string
  /** Column of the resource's id. */
  readonly owner: string
  readonly columns: Sql
}

/** Newest first. */
export function versionsOf<Shape extends VersionRow, Entry>(
  database: Database,
  { table, owner, columns }: History,
  id: string,
  query: Parameters<typeof page>[3] & Period,
  show: (row: Shape) => Entry,
): Promise<Page<Entry>> {
  const column = sql`v.${raw(owner)}`
  return page<Shape, Entry>(
    database,
    {
      columns,
      from: sql`${raw(table)} v`,
      within: [{ field: 'version', condition: sql`${column} = ${id}` }],
      where: [during(sql`v.created_at`, query)],
    },
    { sort: '-version', expressions: { version: sql`v.version` }, id: column },
    query,
    show,
  )
}

/** Throws 404 with the reference that was used. */
export async function versionOf<Shape extends VersionRow>(
  database: Database,
  { kind, table, owner, columns }: History,
  { id, reference, version }: Readonly<Record<'id' | 'reference' | 'version', string>>,
): Promise<Shape> {
  const row = /^[1-9]\d{0,9}$/.test(version)
    ? await database.one<Shape>(
        sql`select ${columns} from ${raw(table)} v where v.${raw(owner)} = ${id} and v.version = ${Number(version)}`,
      )
    : undefined
  if (!row) throw notFound('version', `${version} of ${kind} ${reference}`)
  return row
}

export function entryOf(row: VersionRow) {
  return {
    version: row.version,
    createdAt: row.created_at,
    // Written as a list of texts when the version was stored.
    modifiedAttributes: JSON.parse(row.modified_attributes) as string[],
  }
}

/** One entry per changed place; arrays are compared as a whole. */
export function changesBetween(from: unknown, to: unknown, pointer = ''): Changes {
  if (isDeepStrictEqual(from, to)) return []
  if (!isJsonObject(from) || !isJsonObject(to)) return [{ pointer, from: from ?? null, to: to ?? null }]
  return [...new Set([...Object.keys(from), ...Object.keys(to)])].flatMap((key) =>
    changesBetween(from[key], to[key], `${pointer}/${escapePointer(key)}`),
  )
}
