import sql, { join, type Sql } from 'sql-template-tag'
import type { analytics } from '../../contract/analytics.ts'
import type { DataRow, DataTableName, LearnerChange } from '../../contract/data-tables.ts'
import type { Cell, Database, Row } from '../database/database.ts'
import { invalidCursor, readCursor, writeCursor } from '../database/keyset.ts'
import { resolveFilters } from '../database/reference.ts'
import type { Call } from '../http/handler.ts'
import { ProblemError } from '../problem-error.ts'
import { erasedUsersAmong, goneRow, type RowKey, readDataRows } from './data-rows.ts'
import { byPair, rowsOf, selected, toLearnerRow } from './rows.ts'

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

interface Pair {
  readonly userId: string
  readonly courseId: string
}

/**
 * Reads a page of changed rows of learner data, each once, as they are now. A page looks at a number of changes: it may have fewer
 * rows, or none. Deleted users and courses come without the rows that they remove, which may be many.
 */
export async function readLearnerChanges({ database, query }: Call<typeof analytics.learnerChanges>) {
  const { course_id: courses, learner_id: learners, after, cursor, limit } = query
  const courseIds = courses && (await resolveFilters(database, 'courses', courses, 'course_id'))
  const learnerIds = learners && (await resolveFilters(database, 'users', learners, 'learner_id'))
  const { rows, until, isCut } = await readFeed(database, cursor ?? after, limit)
  const isOfCourse = (id: string) => courseIds?.includes(id) ?? true
  const isOfLearner = (id: string) => learnerIds?.includes(id) ?? true
  const pairs = pairsIn(rows).filter(({ userId, courseId }) => isOfLearner(userId) && isOfCourse(courseId))
  const data = [
    ...(await changesOf(database, pairs)),
    ...(await deletedUsers(database, idsOf(rows, 'user').filter(isOfLearner))),
    ...(await deletedCourses(database, idsOf(rows, 'course').filter(isOfCourse))),
  ]
  return { data, nextCursor: isCut ? until : null, until }
}

function pairsIn(rows: readonly FeedRow[]): Pair[] {
  const pairs = new Map<string, Pair>()
  for (const { user_id: userId, course_id: courseId } of rows) {
    if (userId !== null && courseId !== null) pairs.set(`${userId} ${courseId}`, { userId, courseId })
  }
  return [...pairs.values()]
}

function idsOf(rows: readonly FeedRow[], kind: 'user' | 'course'): string[] {
  return [...new Set(rows.filter((row) => row.kind === kind).map(({ id }) => id))]
}

async function changesOf(database: Database, pairs: readonly Pair[]): Promise<LearnerChange[]> {
  if (pairs.length === 0) return []
  const keys = pairs.map(({ userId, courseId }) => sql`(${userId}, ${courseId})`)
  const rows = await database.all(sql`
    with k (user_id, course_id) as (values ${join(keys)})
    select ${selected} from ${rowsOf(byPair, [sql`e.status <> 'deleted'`, sql`u.status <> 'deleted'`])}`)
  const found = new Map(rows.map(toLearnerRow).map((row) => [`${row.learnerId} ${row.courseId}`, row]))
  return pairs.map(({ userId, courseId }) => {
    const row = found.get(`${userId} ${courseId}`) ?? null
    return { learnerId: userId, courseId, state: row ? 'current' : 'removed', row }
  })
}

async function deletedUsers(database: Database, ids: readonly string[]): Promise<LearnerChange[]> {
  if (ids.length === 0) return []
  const rows = await database.all<Row & { id: string }>(
    sql`select id from users where id in (${join([...ids])}) and status = 'deleted'`,
  )
  return rows.map(({ id }) => ({ learnerId: id, courseId: null, state: 'removed', row: null }))
}

async function deletedCourses(database: Database, ids: readonly string[]): Promise<LearnerChange[]> {
  if (ids.length === 0) return []
  const rows = await database.all<Row & { id: string }>(
    sql`select id from courses where id in (${join([...ids])})`,
  )
  const found = new Set(rows.map(({ id }) => id))
  return ids
    .filter((id) => !found.has(id))
    .map((id) => ({ learnerId: null, courseId: id, state: 'removed', row: null }))
}
