import sql, { type Sql } from 'sql-template-tag'
import { expect } from 'vitest'
import {
  type DataRow,
  type DataTableName,
  dataTableNames,
  dataTables,
} from '../../../src/contract/data-tables.ts'
import type { Database } from '../../../src/server/database/database.ts'
import type { Caller } from '../../helpers/academy.ts'
import { readPages } from '../../helpers/pages.ts'

/** A copy of the tables that follows the feed. */
export interface Replica {
  /** Reads all rows again. */
  readonly fill: () => Promise<void>
  /** Reads what has changed since, up to the oldest transaction that is under way. */
  readonly follow: () => Promise<readonly DataRow[]>
  /** Current rows by table, without those of users and courses that are not there. */
  readonly current: () => Readonly<Record<DataTableName, unknown[]>>
  since: string
}

/** Returns a copy of the tables that this caller reads, in pages of this size. */
export function createReplica(caller: Caller, limit = 7): Replica {
  const rows = new Map<DataTableName, Map<string, Record<string, unknown>>>()
  const replica: Replica = { fill, follow, current, since: '' }

  function put({ table, key, state, record }: DataRow): void {
    const own = rows.get(table)
    if (state === 'current' && record) own?.set(JSON.stringify(key), record)
    else own?.delete(JSON.stringify(key))
  }

  async function fill() {
    const { body } = await caller.get('/v1/analytics/changes')
    replica.since = body.until
    for (const table of dataTableNames) {
      rows.set(table, new Map())
      for (const row of await readPages<DataRow>(caller, `/v1/analytics/rows?table=${table}`, limit)) put(row)
    }
  }

  async function follow() {
    const changed = await readPages<DataRow>(
      caller,
      `/v1/analytics/changes?after=${replica.since}`,
      limit,
      ({ until }) => {
        replica.since = String(until)
      },
    )
    for (const row of changed) put(row)
    return changed
  }

  function current() {
    const isThere = (name: DataTableName, id: unknown) => rows.get(name)?.has(JSON.stringify({ id }))
    const found = dataTableNames.map((table) => {
      const references = Object.entries(dataTables[table].references)
      const own = [...(rows.get(table)?.values() ?? [])].filter((row) =>
        references.every(([field, to]) => isThere(to, row[field])),
      )
      return [table, sorted(own)]
    })
    return Object.fromEntries(found)
  }

  return replica
}

function sorted(rows: readonly object[]): unknown[] {
  return rows.map((row) => JSON.stringify(Object.values(row))).sort()
}

/**
 * Waits until all transactions of this moment have ended, so that the feed reaches up to it. PostgreSQL numbers the
 * transactions of all databases of a cluster: those of other tests delay the feed.
 */
export async function settle(database: Database): Promise<void> {
  const { own, finished } = database.dialect.commitOrder
  if (!finished) return
  const read = async (number: Sql) =>
    Number((await database.one(sql`select ${number} as number`))?.['number'])
  const last = await read(own)
  await expect.poll(() => read(finished)).toBeGreaterThan(last)
}

/** Statements that select the rows of each table, written apart from those of the server. */
const statements: Readonly<Record<DataTableName, Sql>> = {
  users: sql`
    select id, external_id, email, profile ->> 'firstName', profile ->> 'lastName', role, status, created_at, updated_at
    from users where status in ('active', 'suspended')`,
  courses: sql`
    select id, external_id, title, difficulty, status, term_id,
      cast(attributes -> 'assessmentCriteria' ->> 'passingScore' as double precision), published_at, archived_at, created_at, updated_at
    from courses`,
  lessons: sql`
    select id, external_id, course_id, module_id, title, position, duration_minutes, status, due_at, created_at, updated_at
    from lessons`,
  enrollments: sql`
    select id, course_id, user_id, role, status, enrolled_at, completed_at, source, created_at, updated_at
    from enrollments where status in ('active', 'inactive', 'completed')
      and user_id not in (select id from users where status = 'deleted')`,
  progress: sql`
    select user_id, course_id, version, percentage, status, last_accessed, recorded_at
    from progress_steps where user_id not in (select id from users where status = 'deleted')`,
  grades: sql`
    select id, user_id, course_id, item_id, source, label, score_given, score_maximum,
      score_given * 100.0 / score_maximum, weight, published = 1, graded_at, version, created_at, updated_at
    from grades where cleared <> 1 and user_id not in (select id from users where status = 'deleted')`,
}

/** Returns the rows that a data set has, by statements of its own. */
export async function expectedRows(database: Database): Promise<Readonly<Record<DataTableName, unknown[]>>> {
  const found: Partial<Record<DataTableName, unknown[]>> = {}
  for (const table of dataTableNames) {
    const place = Object.keys(dataTables[table].fields).indexOf('published')
    const rows = await database.cells(statements[table])
    const shown = rows.map((cells) => cells.map((cell, index) => (index === place ? Boolean(cell) : cell)))
    found[table] = sorted(shown)
  }
  return found as Record<DataTableName, unknown[]>
}
