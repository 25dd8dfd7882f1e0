import sql, { join, type Sql } from 'sql-template-tag'
import { type Action, nounOf } from '../../contract/actions.ts'
import { type Change, type ChangeCount, type ChangedRecord, changes } from '../../contract/changes.ts'
import { type Asking, seenOnly, visibleUsers, wasTaught } from '../access/sight.ts'
import { foldCounts, totalsOf, undoableUntil } from '../changes/writing.ts'
import type { Database, Row } from '../database/database.ts'
import { firstIdAt } from '../database/id.ts'
import { during, page } from '../database/page.ts'
import { resolveFilter } from '../database/reference.ts'
import { type Call, isRole } from '../http/handler.ts'
import { bodyOf, routesOf } from '../http/schema-routes.ts'
import { notFound, parentNotFound } from '../problem-error.ts'
import { type EntryRow, entryColumns, toEntry } from './audit-log.ts'

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

interface Decisive {
  readonly table: Table
  readonly id: string
}

type Table = 'users' | 'courses' | 'groups' | 'enrollments' | 'grades'

/**
 * Returns what a change did to records, as its entries in the audit log say. Of records about people whom the caller does
 * not see any more, only the id and the action are left.
 */
export async function changedRecords(call: Asking, rows: readonly EntryRow[]): Promise<ChangedRecord[]> {
  if (call.principal.sees === 'all') return rows.map(toRecord)
  const entries = rows.map((row) => ({ record: toRecord(row), decisive: decisiveOf(row) }))
  const seen = await findSeen(
    call,
    entries.flatMap(({ decisive }) => decisive ?? []),
  )
  return entries.map(({ record, decisive }) =>
    decisive && !seen.has(decisive.id)
      ? { ...record, subjectName: null, isErased: true, before: null, after: null }
      : record,
  )
}

function toRecord(row: EntryRow): ChangedRecord {
  const { id, at, noun, action, subjectId, subjectName, detailsSalt, before, after } = toEntry(row)
  return { id, at, noun, action, subjectId, subjectName, isErased: detailsSalt === null, before, after }
}

/** Undefined if the entry is about no person. */
function decisiveOf(row: EntryRow): Decisive | undefined {
  const { subjectId, aboutId, before, after } = toEntry(row)
  const noun = nounOf(row.action as Action)
  if (noun === 'user') return { table: 'users', id: subjectId ?? '' }
  if (aboutId === null) return undefined
  // Of an update, only the fields that changed are recorded.
  const { courseId, groupId } = { ...before, ...after }
  if (typeof courseId === 'string') return { table: 'courses', id: courseId }
  if (typeof groupId === 'string') return { table: 'groups', id: groupId }
  if (noun === 'enrollment') return { table: 'enrollments', id: subjectId ?? '' }
  if (noun === 'grade') return { table: 'grades', id: subjectId ?? '' }
  return { table: 'users', id: aboutId }
}

async function findSeen(call: Asking, decisive: readonly Decisive[]): Promise<ReadonlySet<string>> {
  const seen = new Set<string>()
  for (const [table, some] of Map.groupBy(decisive, (one) => one.table)) {
    const ids = [...new Set(some.map(({ id }) => id))]
    for (const row of await call.database.all<Row & { id: string }>(seenAmong(call, table, ids)))
      seen.add(row.id)
  }
  return seen
}

function seenAmong(call: Asking, table: Table, ids: readonly string[]): Sql {
  const isOne = sql`r.id in (${join([...ids])})`
  switch (table) {
    case 'users':
      return sql`select r.id from users r where ${seenOnly(isOne, visibleUsers(call, 'r'))}`
    case 'courses':
      return sql`
        select r.id from courses r where ${seenOnly(isOne, wasTaught(call, sql`r.id`))}
        union all select r.id from deleted_courses r where ${seenOnly(isOne, wasTaught(call, sql`r.id`))}`
    case 'groups':
      return sql`
        select r.id from groups r where ${seenOnly(isOne, wasTaught(call, sql`r.course_id`))}
        union all select r.id from deleted_groups r where ${seenOnly(isOne, wasTaught(call, sql`r.course_id`))}`
    case 'enrollments':
      return sql`select r.id from enrollments r where ${seenOnly(isOne, wasTaught(call, sql`r.course_id`))}`
    case 'grades':
      return sql`select r.id from grades r where ${seenOnly(isOne, wasTaught(call, sql`r.course_id`))}`
  }
}

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

export async function unfinishedUndosOf(database: Database, id: string): Promise<readonly string[]> {
  const rows = await database.all<Row & { id: string }>(sql`
    select u.id from (select ${changeColumns} from changes c where c.undoes = ${id}) u
    where u.state <> 'completed' and u.undone_by is null order by u.id`)
  return rows.map((row) => row.id)
}
