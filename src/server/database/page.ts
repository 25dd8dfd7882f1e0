import sql, { type Sql } from 'sql-template-tag'
import type { Database, Row, SearchHits } from './database.ts'
import {
  type Condition,
  fenced,
  invalidCursor,
  type Order,
  type Page,
  type Place,
  placeAfter,
  type Walk,
  type Within,
  walkOf,
  where,
  writeCursor,
} from './keyset.ts'
import { sqlStateOf } from './sql-state.ts'

/** What a list selects. `from` may join further tables to `base`, the one whose rows are listed and sorted. */
export interface Select {
  readonly columns: Sql
  readonly from: Sql
  /** `from` unless told otherwise. */
  readonly base?: Sql
  /** Conditions that nearly all rows meet: the index of the sort is walked whatever they leave out. */
  readonly mostly?: readonly Condition[]
  /** Conditions that have an index of their own, and may leave few rows. */
  readonly narrow?: readonly (Condition | Found)[]
  /** Conditions that an index of this sort begins with, or that are about what it sorts by; else they are narrow. */
  readonly within?: readonly Within[]
  readonly where?: readonly Condition[]
}

interface PageQuery {
  readonly limit: number
  readonly cursor?: string | undefined
  readonly include_total: boolean
}

/** Rows that another table finds, and what each of these rows has to meet besides. */
export interface Found extends SearchHits {
  readonly test: Sql
}

/** Maximum numbers of rows that one round of a page looks at. */
export interface Round {
  /** Rows to sort, if an index holds what they are sorted by. */
  readonly maxSorted: number
  /** Rows to sort if each must be fetched by id. */
  readonly maxFetched: number
  /** Rows to pass in the index of the sort, with those of the rounds before. */
  readonly maxWalked: number
}

/** Maximum numbers of rows that a list looks at, whatever the table holds. */
export interface Bounds {
  /** Few rows at first: most filters leave nearly all rows or hardly any. Sorting a row costs more than walking past it. */
  readonly rounds: readonly Round[]
  /** Rows to sort if each must be fetched by id, and no round met any. */
  readonly maxFetchedLast: number
  /** A total is exact up to here. */
  readonly maxTotal: number
  /** Rows that a total looks at. */
  readonly maxCounted: number
}

/** Some milliseconds of work at most, and some tenths of one for most. */
export const usualBounds: Bounds = {
  rounds: [
    { maxSorted: 200, maxFetched: 200, maxWalked: 500 },
    { maxSorted: 1_000, maxFetched: 500, maxWalked: 2_000 },
    { maxSorted: 2_000, maxFetched: 2_000, maxWalked: 10_000 },
    { maxSorted: 10_000, maxFetched: 2_000, maxWalked: 10_000 },
  ],
  maxFetchedLast: 20_000,
  maxTotal: 10_000,
  maxCounted: 20_000,
}

/** Maximum ids that an index finds at once: some ten milliseconds of work. For more the index of the sort is walked. */
const maxAtOnce = 20_000

/** A list in one order, from one place on. */
interface List {
  readonly database: Database
  readonly columns: Sql
  readonly from: Sql
  readonly base: Sql
  readonly walk: Walk
  readonly limit: number
  readonly mostly: readonly Condition[]
  /** Conditions that have an index of their own. */
  readonly narrow: readonly (Sql | Found)[]
  /** Conditions that have none. */
  readonly others: readonly Condition[]
  readonly bounds: Bounds
  /** Numbers of rows of filters whose index finds all of them at once. */
  readonly countByFilter: Map<Sql | Found, number>
}

/** Rows in their order, and where the next page begins; undefined at the end. */
interface Rows<Shape> {
  readonly rows: readonly (Shape & Place)[]
  readonly last: Place | undefined
  /** The filter that they were found by. */
  readonly by?: Sql | Found
}

/**
 * Reads one page by keyset: the rows after the cursor in this order, so that rows that come or go meanwhile shift nothing.
 *
 * Its cost is bounded, whatever the table holds. If the narrowest filter leaves few rows, these are sorted; else the index of
 * the sort is walked: a little of each in turn, then more. If many rows hold less than a page of what is asked for, the page
 * ends there, and the next one goes on. Throws 400 `invalid_cursor` for a cursor of another list.
 */
export async function page<Shape extends Row, Item>(
  database: Database,
  select: Select,
  order: Order,
  query: PageQuery,
  show: (row: Shape) => Item,
  bounds = usualBounds,
): Promise<Page<Item>> {
  try {
    return await pageOf(database, select, order, query, show, bounds)
  } catch (error) {
    // PostgreSQL compares no number with a text, and none that its column cannot hold (class 22): no list gave that out.
    if (query.cursor !== undefined && sqlStateOf(error)?.startsWith('22')) throw invalidCursor()
    throw error
  }
}

async function pageOf<Shape extends Row, Item>(
  database: Database,
  select: Select,
  order: Order,
  query: PageQuery,
  show: (row: Shape) => Item,
  bounds: Bounds,
): Promise<Page<Item>> {
  const list = listOf(database, select, order, query, bounds)
  const isPlain = list.narrow.length === 0 && list.others.every((one) => !isThere(one))
  const { rows, last, by } = isPlain ? await readPlain<Shape>(list) : await readFiltered<Shape>(list)
  const answer: Page<Item> = {
    data: rows.map(show),
    nextCursor: last ? writeCursor(order.sort, last.cursor_value, last.cursor_id) : null,
  }
  if (!query.include_total) return answer
  const widest = bounds.rounds.at(-1)
  return { ...answer, ...(await totalOf(list, by ?? (widest && (await narrowestOf(list, widest))))) }
}

function listOf(
  database: Database,
  select: Select,
  order: Order,
  { limit, cursor }: PageQuery,
  bounds: Bounds,
): List {
  const { within = [] } = select
  const walk = walkOf(order, cursor, within)
  const outOfOrder = within.filter(({ field }) => field !== walk.field).map(({ condition }) => condition)
  const narrow = [...(select.narrow ?? []), ...outOfOrder].filter(isThere)
  const { columns, from, base = from, mostly = [], where: others = [] } = select
  const countByFilter = new Map()
  return { database, columns, from, base, walk, limit, mostly, narrow, others, bounds, countByFilter }
}

/** Reads along the index of the sort, all of whose rows belong to the list, or nearly all. */
async function readPlain<Shape extends Row>(list: List): Promise<Rows<Shape>> {
  const { database, columns, from, walk, mostly, limit } = list
  const rows = await database.all<Shape & Place>(sql`
    select ${columns}, ${walk.place} from ${from}
    ${where([walk.after, ...walk.within, ...mostly])} ${walk.ordered} limit ${limit + 1}`)
  return cut(rows, limit)
}

async function readFiltered<Shape extends Row>(list: List): Promise<Rows<Shape>> {
  const { narrow, limit, bounds } = list
  const fetches = narrow.some((one) => 'ids' in one)
  let page: Rows<Shape> = { rows: [], last: undefined }
  let walked = 0
  for (const [index, round] of bounds.rounds.entries()) {
    // Fetching each row takes ten times as long: any rows make a page then.
    if (fetches && page.rows.length > 0 && index > 1) return page
    const by = await narrowestOf(list, round)
    if (by) return readSorted(list, by)
    if (round.maxWalked === walked) continue
    page = await walkOn(list, page, round.maxWalked - walked)
    walked = round.maxWalked
    // At its end, or at the last row of a page that more rows follow.
    if (!page.last || page.last === page.rows[limit - 1]) return page
  }
  // What is looked for may stand together far on: names that begin alike, in the order of names.
  if (page.rows.length > 0) return page
  const by = await narrowestOf(list, { maxSorted: 0, maxFetched: bounds.maxFetchedLast })
  return by ? readSorted(list, by) : page
}

/** Adds to a page what is found this many rows further on in the index of the sort. */
async function walkOn<Shape extends Row>(
  list: List,
  { rows, last }: Rows<Shape>,
  further: number,
): Promise<Rows<Shape>> {
  const { database, columns, from, base, walk, limit } = list
  const rest = last ? { ...walk, after: walk.beyond(last) } : walk
  const end = await placeAfter(database, base, rest, further)
  const conditions = [rest.after, end && walk.upTo(end), ...walk.within, fenced(testsOf(list))]
  const more = await database.all<Shape & Place>(sql`
    select ${columns}, ${walk.place} from ${from} ${where(conditions)} ${walk.ordered}
    limit ${limit + 1 - rows.length}`)
  const page = cut([...rows, ...more], limit)
  return page.last ? page : { rows: page.rows, last: end }
}

/** Sorts the rows of a filter. */
async function readSorted<Shape extends Row>(list: List, by: Sql | Found): Promise<Rows<Shape>> {
  const { database, columns, from, walk, limit, bounds } = list
  const tests = fenced([...testsOf(list, by), ...walk.within, walk.after])
  const rows = await database.all<Shape & Place>(sql`
    select ${columns}, ${walk.place} from ${from}
    where ${walk.id} in (
      select cursor_id
      from (select ${walk.place} from ${from} ${where([onlyBy(list, by), tests])} limit ${bounds.maxFetchedLast}) found
      ${walk.orderedPlaces} limit ${limit + 1})
    ${walk.ordered}`)
  return { ...cut(rows, limit), by }
}

function cut<Shape>(rows: readonly (Shape & Place)[], limit: number): Rows<Shape> {
  return { rows: rows.slice(0, limit), last: rows.length > limit ? rows[limit - 1] : undefined }
}

/** All conditions on a row but those of the walk; without that of a filter whose index decides it. */
function testsOf({ others, mostly, narrow }: List, by?: Sql | Found): Condition[] {
  const left = narrow.filter((one) => one !== by || 'ids' in one)
  return [...others, ...mostly, ...left.map((one) => ('ids' in one ? one.test : one))]
}

/** The condition by which an index finds the rows of a filter. */
function onlyBy({ walk, bounds }: List, by: Sql | Found): Sql {
  return 'ids' in by ? sql`${walk.id} in (${by.ids} limit ${bounds.maxFetchedLast})` : by
}

/** Counts the items of the list; if too many rows would have to be looked at, the total is the least that there are. */
async function totalOf(
  list: List,
  by: Sql | Found | undefined,
): Promise<{ total: number; totalIsExact: boolean }> {
  const { database, from, base, walk, bounds } = list
  const whole = { ...walk, after: undefined }
  const end = by ? undefined : await placeAfter(database, base, whole, bounds.maxCounted)
  // By one index alone: that of the narrowest filter, or that of the sort.
  const conditions = by
    ? [onlyBy(list, by), fenced([...testsOf(list, by), ...walk.within])]
    : [end && walk.upTo(end), ...walk.within, fenced(testsOf(list))]
  const counted = await database.one<Row & { total: number }>(sql`
    select count(*) as total from (
      select 1 from ${from} ${where(conditions)} limit ${bounds.maxTotal + 1}) found`)
  const total = counted?.total ?? 0
  return {
    total: Math.min(total, bounds.maxTotal),
    totalIsExact: end === undefined && total <= bounds.maxTotal,
  }
}

/** The filter that leaves the fewest rows; undefined if each leaves too many to sort. */
async function narrowestOf(
  { database, base, narrow, countByFilter }: List,
  { maxSorted, maxFetched }: Pick<Round, 'maxSorted' | 'maxFetched'>,
): Promise<Sql | Found | undefined> {
  let narrowest: { readonly by: Sql | Found; readonly count: number } | undefined
  // If another table tells what is found, each row has to be fetched for that, whatever it is sorted from.
  const fetches = narrow.some((one) => 'ids' in one)
  const maxOwn = fetches ? Math.min(maxSorted, maxFetched) : maxSorted
  for (const by of narrow) {
    const bound = Math.min('ids' in by ? maxFetched : maxOwn, narrowest?.count ?? Number.POSITIVE_INFINITY)
    const isAtOnce = 'ids' in by && by.atOnce !== undefined
    const count = countByFilter.get(by) ?? (await countOf(database, base, by, isAtOnce ? maxAtOnce : bound))
    if (isAtOnce) countByFilter.set(by, count)
    if (count <= bound) narrowest = { by, count }
  }
  return narrowest?.by
}

/** Counts the rows that a filter leaves, up to one more than this number. */
async function countOf(database: Database, base: Sql, by: Sql | Found, most: number): Promise<number> {
  if ('ids' in by && (await isTooManyAtOnce(by))) return Number.POSITIVE_INFINITY
  const ids = 'ids' in by ? (by.each ?? by.ids) : sql`select 1 from ${base} where ${by}`
  const counted = await database.one<Row & { count: number }>(
    sql`select count(*) as count from (${ids} limit ${most + 1}) found`,
  )
  return counted?.count ?? 0
}

/** True if an index would have to find more ids at once than a list looks at. */
export async function isTooManyAtOnce({ atOnce }: SearchHits): Promise<boolean> {
  return atOnce !== undefined && (await atOnce.isMoreThan(maxAtOnce))
}

/** True for a filter that was given. */
function isThere<Filter extends Condition | Found>(
  filter: Filter,
): filter is Exclude<Filter, undefined | false | ''> {
  return Boolean(filter)
}
