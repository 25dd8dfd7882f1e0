import sql, { type Sql } from 'sql-template-tag'
import type { Database, Row } from './database.ts'
import type { Condition } from './keyset.ts'

/** Rows that another table finds: a statement that selects their ids, and what each of these rows has to meet besides. */
export interface Found {
  readonly ids: Sql
  readonly test: Sql
  /** True where its index finds all of them before it tells the first one, whatever the limit of the statement. */
  readonly atOnce?: boolean
}

/** The filter that leaves the fewest rows, few enough to sort. */
export interface Least {
  readonly by: Sql | Found
  readonly count: number
}

/** How many rows a list looks at, whatever the table holds. */
export interface Bounds {
  /** So many rows are sorted whose index holds what they are sorted by. A total is exact up to here. */
  readonly sorted: number
  /** So many are sorted that have to be looked up one by one, without a look at the index of the sort. */
  readonly foundFirst: number
  /** So many of these where that index leads to no full page. */
  readonly foundLast: number
  /** How many rows a page looks at in the index of its sort. */
  readonly walked: number
  /** How many rows a total looks at. */
  readonly counted: number
}

/** Some milliseconds of work each. */
export const usualBounds: Bounds = {
  sorted: 10_000,
  foundFirst: 2_000,
  foundLast: 20_000,
  walked: 10_000,
  counted: 20_000,
}

/** So many ids are found at once: some ten milliseconds of work. Lists that look at more walk the index of their sort. */
const mostAtOnce = 20_000

/** The narrowest of some filters of a table; undefined where each of them leaves too many rows to sort. */
export async function leastOf(
  database: Database,
  base: Sql,
  narrow: readonly (Sql | Found)[],
  rows: { readonly sorted: number; readonly found: number },
): Promise<Least | undefined> {
  let least: Least | undefined
  for (const by of narrow) {
    if ('ids' in by && (await isTooManyAtOnce(database, by))) continue
    const ids = 'ids' in by ? by.ids : sql`select 1 from ${base} where ${by}`
    const bound = Math.min('ids' in by ? rows.found : rows.sorted, least?.count ?? Number.POSITIVE_INFINITY)
    const { count } = (await database.one<Row & { count: number }>(
      sql`select count(*) as count from (${ids} limit ${bound + 1}) found`,
    )) ?? { count: 0 }
    if (count <= bound) least = { by, count }
  }
  return least
}

/**
 * Whether an index would have to find more ids at once than a list looks at, as PostgreSQL expects by what it has gathered
 * about the table: no row is read for that.
 */
export async function isTooManyAtOnce(database: Database, { ids, atOnce = false }: Found): Promise<boolean> {
  if (!atOnce) return false
  const row = await database.one<Row & { 'QUERY PLAN': string }>(sql`explain (format json) ${ids}`)
  // As PostgreSQL writes it (PostgreSQL, EXPLAIN).
  const [top] = JSON.parse(row?.['QUERY PLAN'] ?? '[]') as {
    readonly Plan: { readonly 'Plan Rows': number }
  }[]
  return (top?.Plan['Plan Rows'] ?? 0) > mostAtOnce
}

/** True for a filter that was given. */
export function isThere<Filter extends Condition | Found>(
  filter: Filter,
): filter is Exclude<Filter, undefined | false | ''> {
  return Boolean(filter)
}
