import sql, { join } from 'sql-template-tag'
import type { Database, Row } from '../database/database.ts'
import { where } from '../database/page.ts'
import {
  type Asking,
  type Collection,
  type Narrowing,
  narrowingOf,
  type Part,
  type Scope,
  type TablePart,
} from './collection.ts'
import { badSelection, type Filter, type ListQuery, meets } from './query.ts'

/** Rows that a request reads to filter or sort their records: that takes some hundred milliseconds. */
const maxRows = 50_000

export interface ListPage {
  readonly records: readonly object[]
  /** Undefined where a filter leaves more than the page shows. */
  readonly total: number | undefined
  readonly hasMore: boolean
}

export async function readList(
  asking: Asking,
  collection: Collection,
  scope: Scope,
  query: ListQuery,
): Promise<ListPage> {
  const { sort, limit, offset, isDescending, filter } = query
  const narrowing = narrowingOf(filter)
  const order = sort ?? (narrowing.since === undefined ? undefined : 'dateLastModified')
  const byModified = order === 'dateLastModified'
  const hasIndex = order === undefined || byModified
  const sorted = hasIndex ? await collection.parts(asking, scope, narrowing, byModified) : null
  // Fixed records are in their own order, and several tables one after the other.
  if (sorted && (sort === undefined || (sorted.length === 1 && sorted.every(isTable)))) {
    const isSince = narrowing.since === undefined || byModified
    if (narrowing.isWhole && isSince && sorted.every(isOfSingles)) {
      return pageOfRows(asking.database, sorted, narrowing, query)
    }
    const wanted = offset + limit + 1
    const found = await findRecords(asking, sorted, filter, wanted, isDescending)
    const total = found.length < wanted ? found.length : undefined
    return { records: found.slice(offset, offset + limit), total, hasMore: found.length === wanted }
  }
  const parts = (await collection.parts(asking, scope, narrowing, false)) ?? []
  const found = await findRecords(asking, parts, filter, Number.POSITIVE_INFINITY)
  const all = sortBy(found, order ?? '', isDescending)
  const records = all.slice(offset, offset + limit)
  return { records, total: all.length, hasMore: all.length > offset + limit }
}

function isTable(part: Part): part is TablePart {
  return !('records' in part)
}

function isOfSingles(part: Part): boolean {
  return !isTable(part) || part.isSingle !== false
}

async function pageOfRows(
  database: Database,
  parts: readonly Part[],
  narrowing: Narrowing,
  { limit, offset, isDescending }: ListQuery,
): Promise<ListPage> {
  const records: object[] = []
  let total = 0
  for (const part of parts) {
    const narrowed = isTable(part) ? withStatus(part, narrowing.status) : part
    const size = isTable(narrowed) ? await countRows(database, narrowed) : narrowed.records.length
    const from = Math.max(0, offset - total)
    const count = Math.min(limit - records.length, size - from)
    total += size
    if (count <= 0) continue
    if (isTable(narrowed)) {
      const rows = await rowsOf(database, narrowed, from, count, isDescending)
      records.push(...(await narrowed.show(rows)).flat())
    } else records.push(...narrowed.records.slice(from, from + count))
  }
  return { records, total, hasMore: offset + limit < total }
}

/** Throws 400 after `maxRows`. */
export async function findRecords(
  { database }: Pick<Asking, 'database'>,
  parts: readonly Part[],
  filter: Filter | undefined,
  wanted: number,
  isDescending = false,
): Promise<object[]> {
  const found: object[] = []
  const add = (records: readonly object[]) => {
    found.push(...(filter ? records.filter((record) => meets(record, filter)) : records))
  }
  let read = 0
  for (const part of parts) {
    if (!isTable(part)) {
      add(part.records)
      continue
    }
    for (let from = 0; found.length < wanted; ) {
      // Most pages are near the beginning.
      const count = Math.min(5_000, Math.max(100, from))
      const rows = await rowsOf(database, part, from, count, isDescending)
      add((await part.show(rows)).flat())
      from += count
      read += count
      if (rows.length < count) break
      if (read >= maxRows) throw tooMany()
    }
  }
  return found.slice(0, wanted)
}

function tooMany(): Error {
  return badSelection(
    `more than ${maxRows} records would have to be looked at: leave out sort, or filter by dateLastModified`,
  )
}

function withStatus(part: TablePart, status: Narrowing['status']): TablePart {
  if (status === undefined) return part
  const { where: conditions = [], isActive = sql`true` } = part
  return { ...part, where: [...conditions, status === 'active' ? isActive : sql`not (${isActive})`] }
}

function rowsOf(
  database: Database,
  { columns, from, where: conditions = [], isIn, by }: TablePart,
  offset: number,
  count: number,
  isDescending: boolean,
): Promise<Row[]> {
  const order = by.map((expression) => (isDescending ? sql`${expression} desc` : expression))
  return database.all(sql`
    select ${columns} from ${from} ${where([...conditions, isIn])}
    order by ${join(order)} limit ${count} offset ${offset}`)
}

async function countRows(
  database: Database,
  { from, where: conditions = [], isIn }: TablePart,
): Promise<number> {
  const counted = await database.one<Row & { readonly total: number }>(
    sql`select count(*) as total from ${from} ${where([...conditions, isIn])}`,
  )
  return Number(counted?.total ?? 0)
}

function sortBy(records: readonly object[], field: string, isDescending: boolean): object[] {
  const fieldOf = (record: object) => (record as Readonly<Record<string, unknown>>)[field]
  const sign = isDescending ? -1 : 1
  return records.toSorted((one, other) => sign * compare(fieldOf(one), fieldOf(other)))
}

/** Numbers by value and other values as texts; absent ones come first. */
function compare(one: unknown, other: unknown): number {
  if (typeof one === 'number' && typeof other === 'number') return one - other
  const [text, otherText] = [String(one ?? ''), String(other ?? '')]
  return text < otherText ? -1 : text > otherText ? 1 : 0
}
