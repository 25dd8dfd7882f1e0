import sql, { type Sql } from 'sql-template-tag'
import type { Database, Row, SearchHits } from './database.ts'
import {
  type Condition,
  fenced,
  invalidCursor,
  isPresent,
  type Order,
  type Page,
  type Place,
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
  /** Conditions by which an index finds the rows, as equality of a column. The index of a sort may begin with it. */
  readonly by?: readonly Condition[]
  /** Conditions on the sort field, from which its index is walked; for other sorts they count as narrow. */
  readonly within?: readonly Within[]
  /**
   * Conditions with an index of their own. SQLite does not know which of them leave few rows: if one does, these are
   * sorted, else the index of the sort is walked and each row tested. PostgreSQL decides by its statistics.
   */
  readonly narrow?: readonly (Condition | Found)[]
  /** Conditions that are tested on each row. */
  readonly where?: readonly Condition[]
}

interface PageQuery {
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
