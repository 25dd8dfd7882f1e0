import sql, { join, type Sql } from 'sql-template-tag'
import { type DataRow, type DataTableName, dataTables } from '../../contract/data-tables.ts'
import { erasedAddress } from '../changes/row-changes.ts'
import type { Cell, Database, Row } from '../database/database.ts'
import { invalidCursor, readCursor, writeCursor } from '../database/page.ts'
import { ProblemError } from '../problem-error.ts'

/** An entry that is there, or was when the cursor was written. */
interface FeedPlace {
  readonly order: number
  readonly item: number
}

interface FeedRow extends Row {
  readonly commit_order: number
  readonly item: number
  readonly kind: string
  readonly id: string
  readonly user_id: string | null
  readonly course_id: string | null
}

interface FeedPart {
  readonly rows: readonly FeedRow[]
  readonly until: string
  readonly isCut: boolean
}

const sort = 'changes'

/**
 * Entries of transactions before which no other can still commit: a later one may wait for an earlier one that is under
 * way, but none is passed. Without a cursor, the place of now. Throws 400 `invalid_cursor`, and 409 `changes_gone`.
 */
async function readFeed(database: Database, cursor: string | undefined, limit: number): Promise<FeedPart> {
  const { finished } = database.dialect.commitOrder
  const isFinished = finished ? sql`commit_order < ${finished}` : sql`commit_order >= 0`
  if (cursor === undefined) {
    const last = await database.one<FeedRow>(sql`
      select ${columns} from row_changes where ${isFinished} order by commit_order desc, item desc limit 1`)
    if (!last) throw gone('The academy has no record of changes yet.')
    return { rows: [], until: cursorAt(last), isCut: false }
  }
  const place = placeOf(cursor)
  await requirePlace(database, place, isFinished)
  const rows = await database.all<FeedRow>(sql`
    select ${columns} from row_changes
    where (commit_order, item) > (${place.order}, ${place.item}) and ${isFinished}
    order by commit_order, item limit ${limit + 1}`)
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { rows: page, until: last ? cursorAt(last) : cursor, isCut: rows.length > limit }
}

const columns = sql`commit_order, item, kind, id, user_id, course_id`

function cursorAt({ commit_order: order, item }: FeedRow): string {
  return writeCursor(sort, order, item)
}

function placeOf(cursor: string): FeedPlace {
  const [order, item] = readCursor(cursor, sort, 2)
  if (!Number.isSafeInteger(order) || !Number.isSafeInteger(item)) throw invalidCursor()
  return { order: Number(order), item: Number(item) }
}

/**
 * Throws 409 unless the entry of a cursor is there: it is not in another academy, nor in this one after an earlier state
 * was restored (entries have random numbers), nor once it is swept. In a database whose transactions are counted anew it
 * is not finished yet.
 */
async function requirePlace(database: Database, { order, item }: FeedPlace, isFinished: Sql): Promise<void> {
  const row = await database.one(sql`
    select 1 from row_changes where commit_order = ${order} and item = ${item} and ${isFinished}`)
  if (!row)
    throw gone(
      'What changed since is not known: the place is of another academy, of an earlier state, or too long ago.',
    )
}

function gone(detail: string): ProblemError {
  return new ProblemError('changes_gone', detail)
}

const tableByKind: Readonly<Record<string, DataTableName>> = {
  user: 'users',
  course: 'courses',
  lesson: 'lessons',
  enrollment: 'enrollments',
  progress: 'progress',
  grade: 'grades',
}

interface ChangesQuery {
  readonly limit: number
  readonly after?: string | undefined
  readonly cursor?: string | undefined
  readonly table?: readonly DataTableName[] | undefined
}

/** Reads a page of changed rows, each once, as they are now. A page looks at `limit` changes: it may have fewer rows, or none. */
export async function readChanges(database: Database, { after, cursor, limit, table: only }: ChangesQuery) {
  const { rows, until, isCut } = await readFeed(database, cursor ?? after, limit)
  const keysByTable = new Map<DataTableName, Map<string, RowKey>>()
  for (const row of rows) {
    const table = tableByKind[row.kind]
    if (!table || (only && !only.includes(table))) continue
    const key = keyOf(table, row)
    const keys = keysByTable.get(table) ?? new Map<string, RowKey>()
    keysByTable.set(table, keys.set(JSON.stringify(key), key))
  }
  const data: DataRow[] = []
  for (const [table, keys] of keysByTable)
    data.push(...(await dataRowsOf(database, table, [...keys.values()])))
  return { data, nextCursor: isCut ? until : null, until }
}

function keyOf(table: DataTableName, { id, user_id: userId, course_id: courseId }: FeedRow): RowKey {
  return table === 'progress' ? [userId, courseId, Number(id)] : [id]
}

async function dataRowsOf(
  database: Database,
  table: DataTableName,
  keys: readonly RowKey[],
): Promise<DataRow[]> {
  const current = await readDataRows(database, table, keys)
  const found = new Set(current.map(({ key }) => JSON.stringify(Object.values(key))))
  const missing = keys.filter((key) => !found.has(JSON.stringify(key)))
  const erased = await erasedUsersAmong(database, table === 'users' ? missing.map(firstText) : [])
  return [
    ...current,
    ...missing.map((key) => goneRow(table, key, erased.has(firstText(key)) ? 'erased' : 'removed')),
  ]
}

function firstText([first]: readonly Cell[]): string {
  return String(first)
}

/** In the order of the key's columns. */
export type RowKey = readonly Cell[]

interface DataSource {
  /** Tables, of which `t` has the key, after `k` with the keys to read. */
  readonly from: Sql
  readonly columns: Sql
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

const flags: ReadonlySet<string> = new Set(['published'])

/** In no order, without removed ones. */
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
