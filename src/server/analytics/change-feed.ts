import sql, { type Sql } from 'sql-template-tag'
import type { DataRow, DataTableName } from '../../contract/data-tables.ts'
import type { Cell, Database, Row } from '../database/database.ts'
import { invalidCursor, readCursor, writeCursor } from '../database/keyset.ts'
import { ProblemError } from '../problem-error.ts'
import { erasedUsersAmong, goneRow, type RowKey, readDataRows } from './data-rows.ts'

/** An entry that is there, or was when the cursor was written. */
interface FeedPlace {
  readonly order: number
  readonly item: number
}

export interface FeedRow extends Row {
  readonly commit_order: number
  readonly item: number
  readonly kind: string
  readonly id: string
  readonly user_id: string | null
  readonly course_id: string | null
}

interface FeedPart {
  readonly rows: readonly FeedRow[]
  /** Cursor after these rows. */
  readonly until: string
  readonly isCut: boolean
}

/** Name in cursors. */
const sort = 'changes'

/**
 * Reads the next entries of the feed: those of transactions before which no other can still commit. A later one may therefore
 * wait for an earlier one that is under way, but none is passed. Without a cursor, the place of now. Throws 400
 * `invalid_cursor`, and 409 `changes_gone` for a cursor that the feed does not reach back to.
 */
export async function readFeed(
  database: Database,
  cursor: string | undefined,
  limit: number,
): Promise<FeedPart> {
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
 * Throws 409 unless the entry of a cursor is there. It is not in another academy, nor in this one after an earlier state was
 * restored, because entries have random numbers; nor once it is swept, and with it perhaps entries after it. In a
 * database whose transactions are counted anew it is not finished yet.
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
  for (const [table, keys] of keysByTable) data.push(...(await rowsOf(database, table, [...keys.values()])))
  return { data, nextCursor: isCut ? until : null, until }
}

function keyOf(table: DataTableName, { id, user_id: userId, course_id: courseId }: FeedRow): RowKey {
  return table === 'progress' ? [userId, courseId, Number(id)] : [id]
}

async function rowsOf(database: Database, table: DataTableName, keys: readonly RowKey[]): Promise<DataRow[]> {
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
