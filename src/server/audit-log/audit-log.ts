import sql, { join, type Sql } from 'sql-template-tag'
import type * as z from 'zod'
import { type AuditEntry, audit } from '../../contract/audit.ts'
import type { Database, Row } from '../database/database.ts'
import { firstIdAt } from '../database/id.ts'
import { during, type Page } from '../database/keyset.ts'
import { page } from '../database/page.ts'
import { resolveFilter } from '../database/reference.ts'
import { routesOf } from '../http/schema-routes.ts'
import { notFound } from '../problem/problem-error.ts'
import { type EntryRow, entryColumns, toEntry } from './entry-row.ts'

/** Ids tell when they were made: the order of both is the same. */
const order = { at: sql`a.id`, place: sql`a.place` }
/** By the column before, as two entries have different ones. */
const id = sql`a.id`

/** The query of the audit log, checked. */
export type AuditQuery = z.output<NonNullable<typeof audit.list.query>>

/** One page of the entries that a query asks for, with these columns of `audit_entries a`. */
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
        // What comes after a dot, in the order of their codes, is a slash.
        noun && sql`a.action > ${`${noun}.`} and a.action < ${`${noun}/`}`,
        subject && sql`a.subject_id = ${subject}`,
      ],
      within: [
        { field: 'at', condition: during(id, query, (time) => firstIdAt('aud', Date.parse(time))) },
        // All of them: so the index of places is walked, and no table as a whole.
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
