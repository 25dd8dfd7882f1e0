import sql, { type Sql } from 'sql-template-tag'
import type { Database, Row } from './database.ts'
import { type Condition, fenced, invalidCursor, type Order, type Page, where, writeCursor } from './keyset.ts'
import { type Bounds, type Found, isThere, type Least, leastOf, type Round, usualBounds } from './narrow.ts'
import { sqlStateOf } from './sql-state.ts'
import { type Place, placeAfter, type Walk, type Within, walkOf } from './walk.ts'

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

/** A list in one order, from one place on. */
interface List {
  readonly database: Database
  readonly select: Select
  readonly walk: Walk
  readonly limit: number
  readonly narrow: readonly (Sql | Found)[]
  readonly others: readonly Condition[]
  readonly bounds: Bounds
  readonly known: Map<Sql | Found, number>
}

/** Rows in their order, and where the next page begins; undefined at the end. */
interface Rows<Shape> {
  readonly rows: readonly (Shape & Place)[]
  readonly last: Place | undefined
  /** The filter that they were found by. */
  readonly least?: Least
}

/**
 * One page by keyset: the rows after the cursor in this order, so that rows that come or go meanwhile shift nothing.
 *
 * What it costs is bounded, whatever the table holds. Where the narrowest filter leaves few rows, these are sorted; else
 * the index of the sort is walked: a little of each in turn, then more. Where that shows many rows and less than a page
 * of what is asked for, the page ends there, and the next one goes on. Throws 400 `invalid_cursor` for a cursor that no
 * such list gave out.
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
  const { rows, last, least } = isPlain ? await plain<Shape>(list) : await filtered<Shape>(list)
  const answer: Page<Item> = {
    data: rows.map(show),
    nextCursor: last ? writeCursor(order.sort, last.cursor_value, last.cursor_id) : null,
  }
  if (!query.include_total) return answer
  const most = bounds.rounds.at(-1)
  return { ...answer, ...(await totalOf(list, least ?? (most && (await narrowestOf(list, most))))) }
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
  return { database, select, walk, limit, narrow, others: select.where ?? [], bounds, known: new Map() }
}

async function narrowestOf(
  { database, select, narrow, known }: List,
  rows: Pick<Round, 'sorted' | 'found'>,
): Promise<Least | undefined> {
  return leastOf(database, select.base ?? select.from, narrow, rows, known)
}

/** By the index of the sort, all of whose rows belong to the list, or nearly all. */
async function plain<Shape extends Row>({ database, select, walk, limit }: List): Promise<Rows<Shape>> {
  const rows = await database.all<Shape & Place>(sql`
    select ${select.columns}, ${walk.place} from ${select.from}
    ${where([walk.after, ...walk.within, ...(select.mostly ?? [])])} ${walk.ordered} limit ${limit + 1}`)
  return cut(rows, limit)
}

async function filtered<Shape extends Row>(list: List): Promise<Rows<Shape>> {
  const { narrow, limit, bounds } = list
  const looksUp = narrow.some((one) => 'ids' in one)
  let page: Rows<Shape> = { rows: [], last: undefined }
  let walkedBefore = 0
  for (const [index, round] of bounds.rounds.entries()) {
    // Where each row has to be looked up, it takes ten times as long: then any rows make a page.
    if (looksUp && page.rows.length > 0 && index > 1) return page
    const least = await narrowestOf(list, round)
    if (least) return { ...(await sorted<Shape>(list, least)), least }
    if (round.walked === walkedBefore) continue
    page = await walkedOn(list, page, round.walked - walkedBefore)
    walkedBefore = round.walked
    // At its end, or at the last row of a page that more rows follow.
    if (!page.last || page.last === page.rows[limit - 1]) return page
  }
  // What is looked for may stand together far on: names that begin alike, in the order of names.
  if (page.rows.length > 0) return page
  const least = await narrowestOf(list, { sorted: 0, found: bounds.foundLast })
  return least ? { ...(await sorted<Shape>(list, least)), least } : page
}

/** What more there is so many rows further on by the index of the sort. */
async function walkedOn<Shape extends Row>(
  { database, select, walk, limit, narrow, others }: List,
  { rows, last }: Rows<Shape>,
  further: number,
): Promise<Rows<Shape>> {
  const rest = last ? { ...walk, after: walk.beyond(last) } : walk
  const end = await placeAfter(database, select.base ?? select.from, rest, further)
  const conditions = fenced([...others, ...(select.mostly ?? []), ...narrow.map(testOf)])
  const more = await database.all<Shape & Place>(sql`
    select ${select.columns}, ${walk.place} from ${select.from}
    ${where([rest.after, end && walk.upTo(end), ...walk.within, conditions])} ${walk.ordered}
    limit ${limit + 1 - rows.length}`)
  const page = cut([...rows, ...more], limit)
  return page.last ? page : { rows: page.rows, last: end }
}

/** The rows of the narrowest filter, sorted. */
async function sorted<Shape extends Row>(
  { database, select, walk, limit, narrow, others, bounds }: List,
  { by }: Least,
): Promise<Rows<Shape>> {
  const conditions = [
    ...others,
    ...(select.mostly ?? []),
    ...narrow.filter((one) => one !== by || 'ids' in by).map(testOf),
  ]
  const all = fenced([...conditions, ...walk.within, walk.after])
  const found = onlyThose(walk, by, bounds)
  const rows = await database.all<Shape & Place>(sql`
    select ${select.columns}, ${walk.place} from ${select.from}
    where ${walk.id} in (
      select cursor_id
      from (select ${walk.place} from ${select.from} ${where([found, all])} limit ${bounds.foundLast}) found
      ${walk.orderedPlaces} limit ${limit + 1})
    ${walk.ordered}`)
  return cut(rows, limit)
}

function cut<Shape>(rows: readonly (Shape & Place)[], limit: number): Rows<Shape> {
  return { rows: rows.slice(0, limit), last: rows.length > limit ? rows[limit - 1] : undefined }
}

/** The condition that picks the rows of the narrowest filter. */
function onlyThose({ id }: Walk, by: Least['by'], { foundLast }: Bounds): Sql {
  return 'ids' in by ? sql`${id} in (${by.ids} limit ${foundLast})` : by
}

function testOf(narrow: Sql | Found): Sql {
  return 'ids' in narrow ? narrow.test : narrow
}

/** How many items the list has; where that cannot be told by looking at a bounded number of rows, how many at least. */
async function totalOf(
  { database, select, walk, narrow, others, bounds }: List,
  least: Least | undefined,
): Promise<{ total: number; totalIsExact: boolean }> {
  const conditions = [...others, ...(select.mostly ?? []), ...narrow.map(testOf)]
  const whole = { ...walk, after: undefined }
  const end = least
    ? undefined
    : await placeAfter(database, select.base ?? select.from, whole, bounds.counted)
  // By one index alone: that of the narrowest filter, or that of the sort.
  const counted = await database.one<Row & { total: number }>(sql`
    select count(*) as total from (
      select 1 from ${select.from}
      ${
        least
          ? where([onlyThose(walk, least.by, bounds), fenced([...conditions, ...walk.within])])
          : where([end && walk.upTo(end), ...walk.within, fenced(conditions)])
      } limit ${bounds.total + 1}) found`)
  const total = counted?.total ?? 0
  return { total: Math.min(total, bounds.total), totalIsExact: end === undefined && total <= bounds.total }
}
