import sql from 'sql-template-tag'
import { type Action, nounOf } from '../../contract/actions.ts'
import { type Change, type ChangeCount, changes } from '../../contract/changes.ts'
import { visibleUsers } from '../access/sight.ts'
import { foldCounts, totalsOf, undoableUntil } from '../changes/bulk-change.ts'
import type { Database, Row } from '../database/database.ts'
import { firstIdAt } from '../database/id.ts'
import { during } from '../database/keyset.ts'
import { page } from '../database/page.ts'
import { resolveFilter } from '../database/reference.ts'
import { type Call, isRole } from '../http/handler.ts'
import { bodyOf, routesOf } from '../http/schema-routes.ts'
import { notFound, parentNotFound } from '../problem-error.ts'
import { type EntryRow, entryColumns } from './audit-log.ts'
import { type ChangeRow, changeColumns, findChange, requireChange } from './change-row.ts'
import { changedRecords } from './changed-records.ts'

/** The audit log has no entries for changes, only for what is done in them. */
export const changeRoutes = routesOf(changes, {
  async list(call) {
    const { database, query, principal } = call
    const visible = visibleUsers(call)
    const user = query.user_id && (await resolveFilter(database, 'users', query.user_id, 'user_id', visible))
    const own = isRole(call, 'admin') ? undefined : principal.userId
    const found = await page<ChangeRow, ChangeRow>(
      database,
      {
        columns: changeColumns,
        from: sql`changes c`,
        by: [own && sql`c.user_id = ${own}`, user && sql`c.user_id = ${user}`],
        within: [
          {
            field: 'createdAt',
            condition: during(sql`c.id`, query, (time) => firstIdAt('chg', Date.parse(time))),
          },
        ],
      },
      { sort: query.sort, expressions: { createdAt: sql`c.id` }, id: sql`c.id` },
      query,
      (row) => row,
    )
    return { ...found, data: await withCounts(database, found.data) }
  },

  async create(call) {
    const { database, now, newId, principal } = call
    const { command, source, undoes } = bodyOf(call)
    if (undoes !== null && !(await findChange(call, undoes)))
      throw parentNotFound('#/undoes', 'change', undoes)
    const id = newId('chg')
    await database.run(sql`
      insert into changes (id, user_id, command, source, undoes, state, created_at)
      values (${id}, ${principal.userId}, ${command}, ${source}, ${undoes}, 'running', ${now})`)
    return shown(call, id)
  },

  get: (call) => shown(call, call.params.changeId),

  async end(call) {
    const { database, now, params } = call
    const { state } = bodyOf(call)
    const { id, user_id: userId } = await requireChange(call, params.changeId)
    if (userId !== call.principal.userId) throw notFound('change', id)
    const ended = await database.run(sql`
      update changes set state = ${state}, ended_at = ${now} where id = ${id} and state = 'running'`)
    if (ended > 0) await foldCounts(database, id)
    return shown(call, id)
  },

  async records(call) {
    const { database, query, params } = call
    const { id } = await requireChange(call, params.changeId)
    const found = await page<EntryRow, EntryRow>(
      database,
      {
        columns: entryColumns,
        from: sql`audit_entries a`,
        within: [
          { field: 'at', condition: sql`a.change_id = ${id}` },
          {
            field: 'at',
            condition: during(sql`a.id`, query, (time) => firstIdAt('aud', Date.parse(time))),
          },
        ],
      },
      { sort: query.sort, expressions: { at: sql`a.id` }, id: sql`a.change_id` },
      query,
      (row) => row,
    )
    return { ...found, data: await changedRecords(call, found.data) }
  },
})

async function shown(call: Pick<Call, 'database' | 'principal'>, id: string): Promise<Change> {
  const [change] = await withCounts(call.database, [await requireChange(call, id)])
  if (!change) throw new Error(`Change ${id} is not shown`)
  return change
}

async function withCounts(database: Database, rows: readonly ChangeRow[]): Promise<Change[]> {
  if (rows.length === 0) return []
  const totals = await database.all<Row & { change_id: string; action: Action; total: number }>(
    totalsOf(rows.map(({ id }) => id)),
  )
  const byChange = Map.groupBy(totals, (each) => each.change_id)
  return rows.map((row) =>
    toChange(
      row,
      (byChange.get(row.id) ?? []).map(({ action, total }) => ({
        noun: nounOf(action),
        action,
        count: total,
      })),
    ),
  )
}

function toChange(row: ChangeRow, counts: ChangeCount[]): Change {
  return {
    id: row.id,
    command: row.command,
    source: row.source,
    undoes: row.undoes,
    state: row.state as Change['state'],
    userId: row.user_id,
    userEmail: row.user_email,
    counts,
    undoneBy: row.undone_by,
    undoableUntil: undoableUntil(row.created_at),
    createdAt: row.created_at,
    endedAt: row.ended_at,
  }
}
