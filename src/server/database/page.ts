import sql, { empty, join, raw, Sql } from 'sql-template-tag'
import { isStorableText } from '../../codec/unicode-text.ts'
import { ProblemError } from '../problem-error.ts'
import type { Cell, Database, Row, SearchHits } from './database.ts'

/** `from` may join further tables to `base`, whose rows are listed and sorted. */
export interface Select {
  readonly columns: Sql
  readonly from: Sql
  /** Default: `from`. */
  readonly base?: Sql
  /** Conditions by which an index finds the rows, as equality of a column. The index of a sort may begin with it. */
  readonly by?: readonly Condition[]
  /** Conditions on the sort field, from which its index is walked; for other sorts they count as narrow. */
  readonly within?: readonly Within[]
  /**
   * Conditions with an index of their own. SQLite does not know which of them leave few rows: if one does, these are
   * sorted, else the index of the sort is walked and each row tested. PostgreSQL decides by its statistics.
   */
  readonly narrow?: readonly (Condition | Found)[]
  readonly where?: readonly Condition[]
}

export interface PageQuery {
  readonly limit: number
  readonly cursor?: string | undefined
  readonly include_total?: boolean
}

/** Rows found through another table, with the condition on each row that tests the same. */
export interface Found extends SearchHits {
  readonly test: Sql
}

/** Rows that are looked up by id and sorted at most: takes some milliseconds. */
const usualMaxFew = 2_000
/** A total is exact up to here. */
const maxTotal = 10_000

/**
 * Reads one page by keyset: the rows after the cursor, so concurrent inserts and deletes shift nothing. Throws 400
 * `invalid_cursor` for a cursor of another list.
 */
export async function page<Shape extends Row, Item>(
  database: Database,
  select: Select,
  order: Order,
  query: PageQuery,
  show: (row: Shape & Place) => Item,
  maxFew = usualMaxFew,
): Promise<Page<Item>> {
  const { limit, cursor } = query
  const { columns, from, within = [] } = select
  const walk = walkOf(order, cursor, within)
  const whole = await conditionsOf(database, select, walk, maxFew)
  const rows = await database
    .all<Shape & Place>(sql`
      select ${columns}, ${walk.place} from ${from} ${where([walk.after, ...whole])} ${walk.ordered} limit ${limit + 1}`)
    .catch((error: unknown) => {
      // The cursor has a value that the columns of this order cannot be compared with: it is not of this list.
      if (cursor !== undefined && database.dialect.isUnfitValue(error)) throw invalidCursor()
      throw error
    })
  const last = rows.length > limit ? rows[limit - 1] : undefined
  const answer = { data: rows.slice(0, limit).map(show), nextCursor: last ? walk.cursorAfter(last) : null }
  return query.include_total ? { ...answer, ...(await countUpTo(database, from, whole)) } : answer
}

/** Of the whole list, without its cursor. */
async function conditionsOf(
  database: Database,
  select: Select,
  walk: Walk,
  maxFew: number,
): Promise<Condition[]> {
  const { from, base = from, by = [], within = [], where: others = [] } = select
  const outOfOrder = within.filter(({ field }) => field !== walk.field).map(({ condition }) => condition)
  const narrow = [...(select.narrow ?? []), ...outOfOrder].filter(isPresent)
  const tests = [...others, ...narrow.map((one) => ('ids' in one ? one.test : one))]
  if (database.dialect.hasStatistics) return [...by, ...walk.within, ...tests]
  for (const one of narrow) {
    const found = 'ids' in one ? one : { ids: sql`select ${walk.id} from ${base} where ${one}` }
    if (await isFew(database, found, maxFew)) {
      return [sql`${walk.id} in (${found.ids})`, fenced([...by, ...walk.within, ...tests])]
    }
  }
  return [...by, ...walk.within, fenced(tests)]
}

async function isFew(database: Database, { ids, each = ids }: SearchHits, maxFew: number): Promise<boolean> {
  const counted = await database.one<Row & { count: number }>(
    sql`select count(*) as count from (${each} limit ${maxFew + 1}) found`,
  )
  return (counted?.count ?? 0) <= maxFew
}

async function countUpTo(
  database: Database,
  from: Sql,
  conditions: readonly Condition[],
): Promise<Required<Pick<Page<never>, 'total' | 'totalIsExact'>>> {
  const counted = await database.one<Row & { total: number }>(sql`
    select count(*) as total from (select 1 from ${from} ${where(conditions)} limit ${maxTotal + 1}) found`)
  const total = counted?.total ?? 0
  return { total: Math.min(total, maxTotal), totalIsExact: total <= maxTotal }
}

/** The expressions of the fields of `sort` are never null. */
export interface Order {
  readonly sort: string
  readonly expressions: Readonly<Record<string, Sql | readonly Sql[]>>
  /** Expressions that break ties in ascending order, also in a descending list. Default: the id breaks them. */
  readonly ties?: readonly Sql[]
  /** Unique: breaks the last ties and ends every cursor. */
  readonly id: Sql
}

/** `nextCursor` is null on the last page. */
export interface Page<Item> {
  data: Item[]
  nextCursor: string | null
  total?: number
  /** False if `total` is a lower bound. */
  totalIsExact?: boolean
}

/** Falsy if its filter is absent. */
export type Condition = Sql | undefined | false | ''

export function isPresent<Filter>(filter: Filter): filter is Exclude<Filter, undefined | false | ''> {
  return Boolean(filter)
}

/** `where a and b`; empty without conditions. */
export function where(conditions: readonly Condition[]): Sql {
  const present = conditions.filter(isPresent)
  return present.length === 0 ? empty : sql`where ${join(present, ' and ')}`
}

/** A period of the list's main time, both ends as ISO 8601 in UTC. */
export interface Period {
  readonly since?: string | undefined
  readonly until?: string | undefined
}

/**
 * Matches times from the start of a period up to, not including, its end. One condition, since one index search uses
 * both ends.
 */
export function during(
  column: Sql,
  { since, until }: Period,
  keyOf: (time: string) => Cell = String,
): Sql | undefined {
  const ends = [
    ...(since === undefined ? [] : [sql`${column} >= ${keyOf(since)}`]),
    ...(until === undefined ? [] : [sql`${column} < ${keyOf(until)}`]),
  ]
  return ends.length === 0 ? undefined : join(ends, ' and ')
}

/**
 * Joins conditions so that SQLite chooses no index for them: the conditions beside them decide which rows are read,
 * these only test each row.
 */
export function fenced(conditions: readonly Condition[]): Sql | undefined {
  const present = conditions.filter(isPresent)
  return present.length === 0 ? undefined : sql`case when ${join(present, ' and ')} then 1 else 0 end = 1`
}

/** Opaque, and valid only for this order. */
export function writeCursor(sort: string, ...values: readonly Cell[]): string {
  return Buffer.from(JSON.stringify([sort, ...values])).toString('base64url')
}

/** The `count` values in a cursor of this order. Throws 400 `invalid_cursor`. */
export function readCursor(cursor: string, sort: string, count: number): Cell[] {
  let parts: unknown
  try {
    parts = JSON.parse(Buffer.from(cursor, 'base64url').toString())
  } catch {
    throw invalidCursor()
  }
  if (!Array.isArray(parts) || parts.length !== count + 1 || parts[0] !== sort) throw invalidCursor()
  const values: unknown[] = parts.slice(1)
  if (!values.every(isKey)) throw invalidCursor()
  // Checked one line above; the compiler does not carry `every` over to the array.
  return values as Cell[]
}

function isKey(value: unknown): boolean {
  return typeof value === 'string' ? isStorableText(value) : typeof value === 'number'
}

/** 400 `invalid_cursor`. */
export function invalidCursor(): ProblemError {
  const detail = 'must be nextCursor of the previous page of this list, in the same order'
  return new ProblemError('invalid_cursor', `Parameter cursor ${detail}.`, {
    errors: [{ parameter: 'cursor', code: 'invalid_cursor', detail }],
  })
}

/** Further values of an order by several expressions are `cursor_value_2` and so on. */
export interface Place extends Row {
  readonly cursor_value: Cell
  readonly cursor_id: string
}

export interface Within {
  readonly field: string
  readonly condition: Condition
}

export interface Walk {
  readonly field: string
  readonly id: Sql
  readonly place: Sql
  readonly ordered: Sql
  /**
   * Conditions on the index: beyond the cursor, and within the filters. Of several bounds on the same end SQLite uses
   * the first, so the tightest one comes first.
   */
  readonly after: Condition
  readonly within: readonly Condition[]
  readonly cursorAfter: (place: Place) => string
}

/** Begins after the cursor. Throws 400 `invalid_cursor`. */
export function walkOf(order: Order, cursor: string | undefined, within: readonly Within[]): Walk {
  const { sort, expressions, ties, id } = order
  const isDescending = sort.startsWith('-')
  const field = isDescending ? sort.slice(1) : sort
  const own = expressions[field] ?? id
  const keys = own instanceof Sql ? [own] : own
  const terms = ties ? [...keys, ...ties, id] : [...keys, id]
  const names = placeNames(terms.length)
  const isDown = (index: number) => isDescending && (!ties || index < keys.length)
  const orderBy = (all: readonly Sql[]) =>
    sql`order by ${join(
      all.map((term, index) => sql`${term} ${raw(isDown(index) ? 'desc' : 'asc')}`),
      ', ',
    )}`
  const isAfter = ties ? byKeysAndTies(keys, [...ties, id], isDescending) : byAll(terms, isDescending)
  return {
    field,
    id,
    place: join(
      terms.map((term, index) => sql`${term} as ${names[index]}`),
      ', ',
    ),
    // SQLite sorts by the second of two equal terms, even if an index has the order.
    ordered: orderBy(terms.length === 2 && keys[0]?.sql === id.sql ? [id] : terms),
    after: cursor === undefined ? undefined : isAfter(valuesIn(cursor, sort, names.length)),
    within: within.filter((one) => one.field === field).map(({ condition }) => condition),
    cursorAfter: (one) => writeCursor(sort, ...names.map(({ sql: name }) => one[name] ?? null)),
  }
}

function placeNames(count: number): readonly Sql[] {
  const further = Array.from({ length: count - 2 }, (_, index) => raw(`cursor_value_${index + 2}`))
  return [raw('cursor_value'), ...further, raw('cursor_id')]
}

function valuesIn(cursor: string, sort: string, count: number): Cell[] {
  const values = readCursor(cursor, sort, count)
  if (typeof values.at(-1) !== 'string') throw invalidCursor()
  return values
}

type Compare = (values: readonly Cell[]) => Sql

/** Compares with all terms in one direction: one comparison, by which an index is searched. */
function byAll(terms: readonly Sql[], isDescending: boolean): Compare {
  const sign = raw(isDescending ? '<' : '>')
  const [first, last = empty] = [terms[0], terms.at(-1)]
  // When sorting by id, SQLite cannot seek in the index with a comparison of (id, id).
  const isOrderOfIds = terms.length === 2 && first?.sql === last.sql
  const tuple = join(terms, ', ')
  return (values) =>
    isOrderOfIds ? sql`${last} ${sign} ${values[1]}` : sql`(${tuple}) ${sign} (${join(values, ', ')})`
}

/** Compares with the keys in the direction of the order, and for equal keys with the ascending ties. */
function byKeysAndTies(keys: readonly Sql[], ties: readonly Sql[], isDescending: boolean): Compare {
  const isBeyond = byAll(keys, isDescending)
  const isTiedBeyond = byAll(ties, false)
  return (values) => {
    const [own, rest] = [values.slice(0, keys.length), values.slice(keys.length)]
    return sql`(${isBeyond(own)} or (${join(keys, ', ')}) = (${join(own, ', ')}) and ${isTiedBeyond(rest)})`
  }
}
