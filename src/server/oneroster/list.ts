import sql, { join, raw, type Sql } from 'sql-template-tag'
import { setNewest } from '../../codec/bounded-map.ts'
import type { Cell, Database, Row, Store } from '../database/database.ts'
import { where } from '../database/keyset.ts'
import {
  type Asking,
  type Collection,
  narrowingOf,
  type Part,
  type Place,
  type Scope,
  type TablePart,
} from './collection.ts'
import { meets } from './filter.ts'
import { badSelection, type ListQuery } from './list-query.ts'

/** Rows that a request looks at: a page takes some hundred milliseconds at most. */
const maxRows = 50_000
const rowsAtOnce = 1_000
/** By a field without an index. */
const maxSorted = 5_000
/** A total is exact up to here. */
const maxTotal = 100_000

export interface ListPage {
  readonly records: readonly object[]
  /** Of the list; undefined if there are too many to count. */
  readonly total: number | undefined
  readonly hasMore: boolean
}

/** Position in a list of several parts: after a row, and some records of the next one. */
interface Position {
  readonly part: number
  readonly after: Place | null
  readonly skip: number
}

interface Found {
  readonly part: number
  readonly place: Place
  readonly records: readonly object[]
}

const beginning: Position = { part: 0, after: null, skip: 0 }

/**
 * Reads a page of a list. The end of a page is kept for a while, so that the next page begins there. Any other offset is
 * counted from the beginning, and no page passes more than `maxRows` rows: else it is refused (400).
 *
 * @param name name of the list of a client, with its filter and order
 */
export async function readList(
  store: Store,
  asking: Asking,
  collection: Collection,
  scope: Scope,
  query: ListQuery,
  name: string,
): Promise<ListPage> {
  const narrowing = narrowingOf(query.filter)
  const { sort, limit, offset, isDescending } = query
  const order = sort ?? (narrowing.since === undefined ? undefined : 'dateLastModified')
  const parts = await collection.parts(asking, scope, narrowing, order)
  const isIndexed = parts !== null && (sort === undefined || parts.length === 1) && parts.every(isUsable)
  if (parts === null || !isIndexed) return sortedPage()
  const list = { ...asking, parts, isDescending, query }
  const before = pageEndsOf(store).get(placeOfEnd(name, offset))
  const page = await pageAfter(list, before?.position ?? beginning, before ? 0 : offset, limit)
  const isOfWhole = narrowing.isWhole && parts.every((part) => 'records' in part || part.isSingle !== false)
  const end = page.next ? undefined : offset + page.records.length
  // An offset beyond the end says nothing about it.
  const counted = end !== undefined && (page.records.length > 0 || offset === 0) ? end : undefined
  const total = counted ?? (before ? before.total : isOfWhole ? await countAll() : undefined)
  if (page.next) {
    setNewest(pageEndsOf(store), placeOfEnd(name, offset + limit), { position: page.next, total }, maxEnds)
  }
  return { records: page.records, total, hasMore: page.next !== undefined }

  /** Fixed records are in their own order. */
  function isUsable(part: Part): boolean {
    return sort === undefined || !('records' in part)
  }

  async function sortedPage(): Promise<ListPage> {
    const walked = narrowing.since === undefined ? undefined : 'dateLastModified'
    const all = await collection.parts(asking, scope, narrowing, walked)
    const whole = { ...asking, parts: all ?? [], isDescending: false, query }
    const { records, next } = await pageAfter(whole, beginning, 0, maxSorted)
    if (next) {
      throw badSelection(
        `sort=${sort} is not supported for more than ${maxSorted} records: leave it out, or filter`,
      )
    }
    const sorted = sortBy(records, sort ?? '', isDescending)
    const shown = sorted.slice(offset, offset + limit)
    return { records: shown, total: sorted.length, hasMore: offset + limit < sorted.length }
  }

  async function countAll(): Promise<number | undefined> {
    let total = 0
    for (const part of parts ?? []) {
      const { status, since } = narrowing
      total += 'records' in part ? part.records.length : await countRows(asking.database, part, status, since)
      if (total > maxTotal) return undefined
    }
    return total
  }
}

interface List extends Pick<Asking, 'database'> {
  readonly parts: readonly Part[]
  readonly isDescending: boolean
  readonly query: Pick<ListQuery, 'filter'>
}

async function pageAfter(
  list: List,
  position: Position,
  passed: number,
  limit: number,
): Promise<{ readonly records: readonly object[]; readonly next: Position | undefined }> {
  const { filter } = list.query
  const records: object[] = []
  let left = passed
  let { skip } = position
  let last: Pick<Position, 'part' | 'after'> = position
  for await (const found of rowsAfter(list, position, passed, limit)) {
    const { part, place } = found
    const fitting = filter ? found.records.filter((record) => meets(record, filter)) : found.records
    for (const [index, record] of fitting.entries()) {
      if (index < skip) continue
      if (left > 0) left -= 1
      else if (records.length < limit) records.push(record)
      else return { records, next: { part, after: last.part === part ? last.after : null, skip: index } }
    }
    skip = 0
    last = { part, after: place }
  }
  return { records, next: undefined }
}

/** Part by part. Throws 400 after `maxRows`. */
async function* rowsAfter(
  { database, parts, isDescending }: List,
  { part: first, after }: Position,
  passed: number,
  limit: number,
): AsyncGenerator<Found> {
  let read = 0
  for (const [index, part] of parts.entries()) {
    if (index < first) continue
    if ('records' in part) {
      yield { part: index, place: [], records: part.records }
      continue
    }
    let place = index === first ? after : null
    for (;;) {
      const count = Math.min(rowsAtOnce, Math.max(passed + limit + 1 - read, 100))
      const rows = await rowsOf(database, part, place, isDescending, count)
      const records = await part.show(rows)
      for (const [at, row] of rows.entries()) {
        yield { part: index, place: placeOf(part, row), records: records[at] ?? [] }
      }
      if (rows.length < count) break
      read += rows.length
      if (read >= maxRows + limit) throw tooFar()
      place = placeOf(part, rows.at(-1) ?? {})
    }
  }
}

export async function firstRecords(
  { database }: Pick<Asking, 'database'>,
  part: TablePart,
): Promise<readonly object[]> {
  const rows = await rowsOf(database, part, null, false, rowsAtOnce)
  return (await part.show(rows)).flat()
}

function tooFar(): Error {
  return badSelection(
    `the page is more than ${maxRows} records from the last one, or the filter leaves too few: read pages in order, or filter by dateLastModified`,
  )
}

function rowsOf(
  database: Database,
  { columns, from, where: conditions = [], by }: TablePart,
  after: Place | null,
  isDescending: boolean,
  count: number,
): Promise<Row[]> {
  const places = by.map((expression, index) => sql`${expression} as ${raw(`place_${index}`)}`)
  const ordered = by.map((expression) => (isDescending ? sql`${expression} desc` : expression))
  return database.all(sql`
    select ${columns}, ${join(places)} from ${from} ${where([after ? beyond(by, after, isDescending) : undefined, ...conditions])}
    order by ${join(ordered)} limit ${count}`)
}

function beyond(by: readonly Sql[], after: readonly Cell[], isDescending: boolean): Sql {
  const sign = raw(isDescending ? '<' : '>')
  const [one] = by
  if (by.length === 1 && one) return sql`${one} ${sign} ${after[0]}`
  return sql`(${join([...by])}) ${sign} (${join([...after])})`
}

function placeOf({ by }: TablePart, row: Row): Place {
  return by.map((_, index) => row[`place_${index}`] ?? null)
}

/** Up to one more than `maxTotal` records. Nearly all rows are records, so as many rows are read. */
async function countRows(
  database: Database,
  { from, where: conditions = [], isIn, isActive, modified }: TablePart,
  status: 'active' | 'tobedeleted' | undefined,
  since: string | undefined,
): Promise<number> {
  const active = isActive ?? sql`true`
  const tests = [
    isIn,
    status === 'active' && active,
    status === 'tobedeleted' && sql`not (${active})`,
    since !== undefined && modified && sql`${modified} >= ${since}`,
  ]
  const counted = await database.one<Row & { readonly total: number }>(sql`
    select count(*) as total from (
      select 1 from ${from} ${where([...conditions, ...tests])} limit ${maxTotal + 1}) found`)
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

interface PageEnd {
  readonly position: Position
  readonly total: number | undefined
}

/** For each academy. */
const maxEnds = 2_000
const endsByStore = new WeakMap<Store, Map<string, PageEnd>>()

function placeOfEnd(name: string, offset: number): string {
  return `${name}\n${offset}`
}

function pageEndsOf(store: Store): Map<string, PageEnd> {
  const ends = endsByStore.get(store) ?? new Map<string, PageEnd>()
  endsByStore.set(store, ends)
  return ends
}
