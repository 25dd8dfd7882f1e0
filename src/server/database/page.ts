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
} from './keyset.ts'

/** The query of a list. `from` may join further tables to `base`, the table whose rows are listed and sorted. */
export interface Select {
  readonly columns: Sql
  readonly from: Sql
  /** Default: `from`. */
  readonly base?: Sql
  /** Conditions that nearly all rows meet, so the index of the sort is scanned in spite of them. */
  readonly mostly?: readonly Condition[]
  /** Conditions with an index of their own that may leave few rows. */
  readonly narrow?: readonly (Condition | Found)[]
  /** Conditions on a prefix of the sort's index or on the sort field itself; for other sorts they count as narrow. */
  readonly within?: readonly Within[]
  readonly where?: readonly Condition[]
  /**
   * The page ends before this place at the latest, and the next one continues there. The condition is left out if `from`
   * has no rows beyond. For lists without other filters than `mostly`.
   */
  readonly end?: { readonly condition?: Sql; readonly place: Place } | undefined
}

interface PageQuery {
  readonly limit: number
  readonly cursor?: string | undefined
  readonly include_total?: boolean
}

/** Rows found through another table, with further conditions on each. */
export interface Found extends SearchHits {
  readonly test: Sql
}

/** Maximum numbers of rows read in one round of a page. */
interface Round {
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

/** Limits for most lists: a page takes at most some milliseconds, usually tenths of one. */
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

/**
 * Maximum ids that an index finds at once (some ten milliseconds of work). Above that the index of the sort is
 * scanned.
 */
const maxAtOnce = 20_000

interface List {
  readonly database: Database
  readonly columns: Sql
  readonly from: Sql
  readonly base: Sql
  readonly walk: Walk
  readonly limit: number
  readonly mostly: readonly Condition[]
  readonly narrow: readonly (Sql | Found)[]
  /** Conditions without an index. */
  readonly others: readonly Condition[]
  readonly end: Select['end']
  readonly bounds: Bounds
  /** Cached row counts of the filters whose index finds all rows at once. */
  readonly countByFilter: Map<Sql | Found, number>
}

/** `last` is where the next page begins; undefined at the end. */
interface Rows<Shape> {
  readonly rows: readonly (Shape & Place)[]
  readonly last: Place | undefined
  readonly by?: Sql | Found
}

/**
 * Reads one page by keyset: the rows after the cursor, so concurrent inserts and deletes shift nothing.
 *
 * The cost is bounded whatever the size of the table. If the narrowest filter leaves few rows, they are sorted; else
 * the index of the sort is scanned, in growing rounds. If many rows contain less than a page of matches, the page
 * ends early and the next one goes on. Throws 400 `invalid_cursor` for a cursor of another list.
 */
export async function page<Shape extends Row, Item>(
  database: Database,
  select: Select,
  order: Order,
  query: PageQuery,
  show: (row: Shape & Place) => Item,
  bounds = usualBounds,
): Promise<Page<Item>> {
  try {
    return await pageOf(database, select, order, query, show, bounds)
  } catch (error) {
    // The cursor has a value that the columns of this order cannot be compared with: it is not of this list.
    if (query.cursor !== undefined && database.dialect.isUnfitValue(error)) throw invalidCursor()
    throw error
  }
}

async function pageOf<Shape extends Row, Item>(
  database: Database,
  select: Select,
  order: Order,
  query: PageQuery,
  show: (row: Shape & Place) => Item,
  bounds: Bounds,
): Promise<Page<Item>> {
  const list = listOf(database, select, order, query, bounds)
  const isPlain = list.narrow.length === 0 && list.others.every((one) => !isSet(one))
  const { rows, last, by } = isPlain ? await readPlain<Shape>(list) : await readFiltered<Shape>(list)
  const answer: Page<Item> = {
    data: rows.map(show),
    nextCursor: last ? list.walk.cursorAfter(last) : null,
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
  const narrow = [...(select.narrow ?? []), ...outOfOrder].filter(isSet)
  const { columns, from, base = from, mostly = [], where: others = [], end } = select
  const countByFilter = new Map()
  return { database, columns, from, base, walk, limit, mostly, narrow, others, end, bounds, countByFilter }
}

/** Scans the index of the sort, for lists that contain all of its rows or nearly all. */
async function readPlain<Shape extends Row>(list: List): Promise<Rows<Shape>> {
  const { database, columns, from, walk, mostly, limit, end } = list
  const rows = await database.all<Shape & Place>(sql`
    select ${columns}, ${walk.place} from ${from}
    ${where([walk.after, end?.condition, ...walk.within, ...mostly])} ${walk.ordered} limit ${limit + 1}`)
  const page = cut(rows, limit)
  return page.last ? page : { rows: page.rows, last: end?.place }
}

async function readFiltered<Shape extends Row>(list: List): Promise<Rows<Shape>> {
  const { narrow, limit, bounds } = list
  const fetches = narrow.some((one) => 'ids' in one)
  let page: Rows<Shape> = { rows: [], last: undefined }
  let walked = 0
  for (const [index, round] of bounds.rounds.entries()) {
    // Fetching each row costs ten times as much, so return a short page.
    if (fetches && page.rows.length > 0 && index > 1) return page
    const by = await narrowestOf(list, round)
    if (by) return readSorted(list, by)
    if (round.maxWalked === walked) continue
    page = await continueWalk(list, page, round.maxWalked - walked)
    walked = round.maxWalked
    // Return at the end of the list, or if the page is full and more rows follow.
    if (!page.last || page.last === page.rows[limit - 1]) return page
  }
  // Matches may be clustered further on, as names that begin alike are in the order of names.
  if (page.rows.length > 0) return page
  const by = await narrowestOf(list, { maxSorted: 0, maxFetched: bounds.maxFetchedLast })
  return by ? readSorted(list, by) : page
}

/** Appends the matches among the next rows of the sort's index, up to this number of rows. */
async function continueWalk<Shape extends Row>(
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

/** Reads and sorts the rows of a filter. */
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

/** Except those of the scan, and except a filter that its index decides exactly. */
function testsOf({ others, mostly, narrow }: List, by?: Sql | Found): Condition[] {
  const left = narrow.filter((one) => one !== by || 'ids' in one)
  return [...others, ...mostly, ...left.map((one) => ('ids' in one ? one.test : one))]
}

function onlyBy({ walk, bounds }: List, by: Sql | Found): Sql {
  return 'ids' in by ? sql`${walk.id} in (${by.ids} limit ${bounds.maxFetchedLast})` : by
}

/** Counts the items of the list; if that would read too many rows, the total is a lower bound. */
async function totalOf(
  list: List,
  by: Sql | Found | undefined,
): Promise<{ total: number; totalIsExact: boolean }> {
  const { database, from, base, walk, bounds } = list
  const whole = { ...walk, after: undefined }
  const end = by ? undefined : await placeAfter(database, base, whole, bounds.maxCounted)
  // Uses one index only: that of the narrowest filter, or that of the sort.
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
  // A filter through another table requires fetching each row, whichever index sorts them.
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

/** Up to `maxRows` + 1. */
async function countOf(database: Database, base: Sql, by: Sql | Found, maxRows: number): Promise<number> {
  if ('ids' in by && (await isTooManyAtOnce(by))) return Number.POSITIVE_INFINITY
  const ids = 'ids' in by ? (by.each ?? by.ids) : sql`select 1 from ${base} where ${by}`
  const counted = await database.one<Row & { count: number }>(
    sql`select count(*) as count from (${ids} limit ${maxRows + 1}) found`,
  )
  return counted?.count ?? 0
}

/** An index would have to find more ids at once than the limit of a list. */
export async function isTooManyAtOnce({ atOnce }: SearchHits): Promise<boolean> {
  return atOnce !== undefined && (await atOnce.isMoreThan(maxAtOnce))
}

function isSet<Filter extends Condition | Found>(
  filter: Filter,
): filter is Exclude<Filter, undefined | false | ''> {
  return Boolean(filter)
}
