import sql, { join, type Sql } from 'sql-template-tag'
import type * as z from 'zod'
import { type AuditEntry, audit } from '../../contract/audit.ts'
import { lastLink } from '../audit/append.ts'
import type { Database, Row } from '../database/database.ts'
import { firstIdAt } from '../database/id.ts'
import { during, type Page } from '../database/keyset.ts'
import { page } from '../database/page.ts'
import { resolveFilter } from '../database/reference.ts'
import { routesOf } from '../http/schema-routes.ts'
import { notFound } from '../problem-error.ts'
import { type EntryRow, entryColumns, toEntry } from './entry-row.ts'

/** Ids sort by time of creation. */
const order = { at: sql`a.id`, place: sql`a.place` }
const id = sql`a.id`

export type AuditQuery = z.output<NonNullable<typeof audit.list.query>>

/** Reads one page of entries, with these columns of `audit_entries a`. */
export async function pageOfEntries<Shape extends Row, Item>(
  database: Database,
  query: AuditQuery,
  columns: Sql,
  show: (row: Shape) => Item,
): Promise<Page<Item>> {
  const { user_id: user, credential, action, noun, subject_id: subject } = query
  return page<Shape, Item>(
    database,
    {
      columns,
      from: sql`audit_entries a`,
      narrow: [
        user && sql`a.user_id = ${await resolveFilter(database, 'users', user, 'user_id')}`,
        credential && sql`a.credential = ${credential}`,
        action && sql`a.action in (${join(action)})`,
        // `/` is the character after `.`.
        noun && sql`a.action > ${`${noun}.`} and a.action < ${`${noun}/`}`,
        subject && sql`a.subject_id = ${subject}`,
      ],
      within: [
        { field: 'at', condition: during(id, query, (time) => firstIdAt('aud', Date.parse(time))) },
        // Always true; makes the planner walk the index of places.
        { field: 'place', condition: sql`a.place >= ${Number.MIN_SAFE_INTEGER}` },
      ],
    },
    { sort: query.sort, expressions: order, id },
    query,
    show,
  )
}

export const auditRoutes = routesOf(audit, {
  async list({ database, query }) {
    return pageOfEntries<EntryRow, AuditEntry>(database, query, entryColumns, toEntry)
  },

  async get({ database, params }) {
    const row = await database.one<EntryRow>(
      sql`select ${entryColumns} from audit_entries a where a.id = ${params.entryId}`,
    )
    if (!row) throw notFound('audit entry', params.entryId)
    return toEntry(row)
  },
})

/** Maximum waiting entries that are counted. */
export const maxWaiting = 1_000

/** State of the hash chain. */
export interface Chain {
  /** Number of linked entries. */
  readonly linked: number
  /** Hash of the last linked entry. */
  readonly hash: string
  /** Entries that are not linked yet; `maxWaiting + 1` stands for more. */
  readonly waiting: number
}

/** Reads the state of the hash chain. */
export async function chainOf(database: Database): Promise<Chain> {
  const { place, hash } = await lastLink(database)
  const row = await database.one<Row & { waiting: number }>(sql`
    select count(*) as waiting from (select 1 from audit_entries where place < 0 limit ${maxWaiting + 1}) waiting`)
  return { linked: place, hash, waiting: row?.waiting ?? 0 }
}
