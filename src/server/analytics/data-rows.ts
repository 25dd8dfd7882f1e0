import sql, { join, type Sql } from 'sql-template-tag'
import { type DataRow, type DataTableName, dataTables } from '../../contract/data-tables.ts'
import { erasedAddress } from '../changes/row-changes.ts'
import type { Cell, Database, Row } from '../database/database.ts'
import { invalidCursor, readCursor, writeCursor } from '../database/keyset.ts'

/** In the order of the key's columns. */
export type RowKey = readonly Cell[]

interface DataSource {
  /** Tables, of which `t` has the key, after `k` with the keys to read. */
  readonly from: Sql
  /** In the order of the fields. */
  readonly columns: Sql
  /** Selects the rows that a data set has. */
  readonly isCurrent: Sql
}

const isOfUser = sql`u.id = t.user_id and u.status <> 'deleted'`

const sources: Readonly<Record<DataTableName, DataSource>> = {
  users: {
    from: sql`users t`,
    columns: sql`t.id, t.external_id, t.email, t.profile ->> 'firstName', t.profile ->> 'lastName', t.role, t.status,
      t.created_at, t.updated_at`,
    isCurrent: sql`t.status <> 'deleted'`,
  },
  courses: {
    from: sql`courses t`,
    columns: sql`t.id, t.external_id, t.title, t.difficulty, t.status, t.term_id, t.passing_score, t.published_at, t.archived_at,
      t.created_at, t.updated_at`,
    isCurrent: sql`true`,
  },
  lessons: {
    from: sql`lessons t`,
    columns: sql`t.id, t.external_id, t.course_id, t.module_id, t.title, t.position, t.duration_minutes, t.status, t.due_at,
      t.created_at, t.updated_at`,
    isCurrent: sql`true`,
  },
  enrollments: {
    from: sql`enrollments t cross join users u`,
    columns: sql`t.id, t.course_id, t.user_id, t.role, t.status, t.enrolled_at, t.completed_at, t.source, t.created_at,
      t.updated_at`,
    isCurrent: sql`${isOfUser} and t.status <> 'deleted'`,
  },
  progress: {
    from: sql`progress_steps t cross join users u`,
    columns: sql`t.user_id, t.course_id, t.version, t.percentage, t.status, t.last_accessed, t.recorded_at`,
    isCurrent: isOfUser,
  },
  grades: {
    from: sql`grades t cross join users u`,
    columns: sql`t.id, t.user_id, t.course_id, t.item_id, t.source, t.label, t.score_given, t.score_maximum,
      100.0 * t.score_given / t.score_maximum, t.weight, t.published, t.graded_at, t.version, t.created_at, t.updated_at`,
    isCurrent: sql`${isOfUser} and t.cleared = 0`,
  },
}

/** Stored as 0 or 1. */
const flags: ReadonlySet<string> = new Set(['published'])

/** In no order; removed ones are left out. */
export async function readDataRows(
  database: Database,
  table: DataTableName,
  keys: readonly RowKey[],
): Promise<DataRow[]> {
  if (keys.length === 0) return []
  const { from, columns, isCurrent } = sources[table]
  const names = Object.keys(dataTables[table].fields)
  const rows =
    table === 'progress'
      ? await database.cells(sql`
          with k (user_id, course_id, version) as (values ${join(keys.map(stepOf))})
          select ${columns} from k cross join ${from}
          where t.user_id = k.user_id and t.course_id = k.course_id and t.version = k.version and ${isCurrent}`)
      : await database.cells(sql`
          select ${columns} from ${from} where t.id in (${join(keys.map(([id]) => id ?? ''))}) and ${isCurrent}`)
  return rows.map((cells) => {
    const record = Object.fromEntries(
      names.map((name, index) => {
        const cell = cells[index] ?? null
        return [name, flags.has(name) ? cell === 1 : cell]
      }),
    )
    return { table, key: keyIn(table, record), state: 'current', record }
  })
}

/** PostgreSQL takes parameters of a list of values for text. */
function stepOf([userId, courseId, version]: RowKey): Sql {
  return sql`(${userId}, ${courseId}, cast(${version} as bigint))`
}

function keyIn(table: DataTableName, record: Readonly<Record<string, Cell | boolean>>) {
  return Object.fromEntries(dataTables[table].key.map((name) => [name, record[name] ?? null]))
}

export function goneRow(table: DataTableName, key: RowKey, state: 'removed' | 'erased'): DataRow {
  const names = dataTables[table].key
  return {
    table,
    key: Object.fromEntries(names.map((name, index) => [name, key[index] ?? null])),
    state,
    record: null,
  }
}

/**
 * Reads a page of a table in the order of its key, which no change shifts. Rows that a data set does not have are looked at,
 * too: a page may have fewer than `limit`, or none.
 */
export async function pageOfDataRows(
  database: Database,
  {
    table,
    limit,
    cursor,
  }: { readonly table: DataTableName; readonly limit: number; readonly cursor?: string | undefined },
): Promise<{ data: DataRow[]; nextCursor: string | null }> {
  const keys = await keysAfter(database, table, cursor, limit)
  const found = await readDataRows(database, table, keys)
  const byKey = new Map(found.map((row) => [JSON.stringify(Object.values(row.key)), row]))
  const data = keys.flatMap((key) => byKey.get(JSON.stringify(key)) ?? [])
  const last = keys.length === limit ? keys.at(-1) : undefined
  return { data, nextCursor: last ? writeCursor(table, ...last) : null }
}

async function keysAfter(
  database: Database,
  table: DataTableName,
  cursor: string | undefined,
  limit: number,
): Promise<Cell[][]> {
  if (table !== 'progress') {
    const after = cursor === undefined ? '' : readCursor(cursor, table, 1)[0]
    if (typeof after !== 'string') throw invalidCursor()
    return database.cells(
      sql`select id from ${tableNames[table]} where id > ${after} order by id limit ${limit}`,
    )
  }
  const [userId, courseId, version] = cursor === undefined ? ['', '', 0] : readCursor(cursor, table, 3)
  if (typeof userId !== 'string' || typeof courseId !== 'string' || !Number.isSafeInteger(version))
    throw invalidCursor()
  return database.cells(sql`
    select user_id, course_id, version from progress_steps
    where (user_id, course_id, version) > (${userId}, ${courseId}, ${version})
    order by user_id, course_id, version limit ${limit}`)
}

const tableNames: Readonly<Record<Exclude<DataTableName, 'progress'>, Sql>> = {
  users: sql`users`,
  courses: sql`courses`,
  lessons: sql`lessons`,
  enrollments: sql`enrollments`,
  grades: sql`grades`,
}

/** Their address says so. */
export async function erasedUsersAmong(
  database: Database,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set()
  const rows = await database.all<Row & { id: string; email: string }>(
    sql`select id, email from users where id in (${join(ids)}) and status = 'deleted'`,
  )
  return new Set(rows.filter(({ id, email }) => email === erasedAddress(id)).map(({ id }) => id))
}
