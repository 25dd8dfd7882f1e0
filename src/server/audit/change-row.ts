import sql from 'sql-template-tag'
import type { Database, Row } from '../database/database.ts'
import { type Call, isRole } from '../http/handler.ts'
import { notFound } from '../problem-error.ts'

export interface ChangeRow extends Row {
  readonly id: string
  readonly user_id: string
  readonly user_email: string
  readonly command: string
  readonly source: string | null
  readonly undoes: string | null
  readonly undone_by: string | null
  readonly state: string
  readonly created_at: string
  readonly ended_at: string | null
}

/**
 * Columns of ChangeRow, from `changes c`. Where no undo wrote anything, nothing is undone; one that continues an
 * interrupted undo may find nothing left to write.
 */
export const changeColumns = sql`c.id, c.user_id, (select email from users where id = c.user_id) as user_email, c.command, c.source,
  c.undoes, (select u.id from changes u where u.undoes = c.id and u.state in ('completed', 'partial')
               and exists (select 1 from changes w join change_counts n on n.change_id = w.id where w.undoes = c.id)
             order by u.id desc limit 1) as undone_by, c.state, c.created_at, c.ended_at`

/** Returns a change that the caller may see. */
export async function findChange(call: Pick<Call, 'database' | 'principal'>, id: string) {
  const row = await call.database.one<ChangeRow>(
    sql`select ${changeColumns} from changes c where c.id = ${id}`,
  )
  const isVisible = isRole(call, 'admin') || row?.user_id === call.principal.userId
  return isVisible ? row : undefined
}

/** Throws 404 if the caller may not see it. */
export async function requireChange(
  call: Pick<Call, 'database' | 'principal'>,
  id: string,
): Promise<ChangeRow> {
  const row = await findChange(call, id)
  if (!row) throw notFound('change', id)
  return row
}

/** Those that did not complete, the oldest first. */
export async function unfinishedUndosOf(database: Database, id: string): Promise<readonly string[]> {
  const rows = await database.all<Row & { id: string }>(sql`
    select u.id from (select ${changeColumns} from changes c where c.undoes = ${id}) u
    where u.state <> 'completed' and u.undone_by is null order by u.id`)
  return rows.map((row) => row.id)
}
