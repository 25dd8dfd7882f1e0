import sql, { type Sql } from 'sql-template-tag'
import type { Database, Row, SearchHits } from './database.ts'
import type { Condition } from './keyset.ts'

/** Rows that another table finds, and what each of these rows has to meet besides. */
export interface Found extends SearchHits {
  readonly test: Sql
}

/** The filter that leaves the fewest rows, few enough to sort. */
export interface Least {
  readonly by: Sql | Found
  readonly count: number
}

/** How many rows one round of a page looks at. */
export interface Round {
  /** So many rows are sorted whose index holds what they are sorted by. */
  readonly sorted: number
  /** So many are sorted that have to be looked up one by one. */
  readonly found: number
  /** How many rows are looked at in the index of the sort, with those of the rounds before. */
  readonly walked: number
}

/** How many rows a list looks at, whatever the table holds. */
export interface Bounds {
  /** Few at first: most filters leave nearly all rows or hardly any. Sorting a row costs more than walking past it. */
  readonly rounds: readonly Round[]
  /** So many rows are sorted that have to be looked up one by one, where no round came upon any. */
  readonly foundLast: number
  /** A total is exact up to here. */
  readonly total: number
  /** How many rows a total looks at. */
  readonly counted: number
}

/** Some milliseconds of work at most, and some tenths of one for most. */
export const usualBounds: Bounds = {
  rounds: [
    { sorted: 200, found: 200, walked: 500 },
    { sorted: 1_000, found: 500, walked: 2_000 },
    { sorted: 2_000, found: 2_000, walked: 10_000 },
    { sorted: 10_000, found: 2_000, walked: 10_000 },
  ],
  foundLast: 20_000,
  total: 10_000,
  counted: 20_000,
}

/** So many ids are found at once: some ten milliseconds of work. Lists that look at more walk the index of their sort. */
const mostAtOnce = 20_000

/**
 * The narrowest of some filters of a table; undefined where each of them leaves too many rows to sort.
 *
 * @param known how many rows filters leave that find all of them at once, for whoever asks again for more rows
 */
export async function leastOf(
  database: Database,
  base: Sql,
  narrow: readonly (Sql | Found)[],
  rows: Pick<Round, 'sorted' | 'found'>,
  known: Map<Sql | Found, number>,
): Promise<Least | undefined> {
  let least: Least | undefined
  // Where another table tells what is found, each row has to be looked up for that, whatever it is sorted from.
  const sorted = narrow.some((one) => 'ids' in one) ? Math.min(rows.sorted, rows.found) : rows.sorted
  for (const by of narrow) {
    const bound = Math.min('ids' in by ? rows.found : sorted, least?.count ?? Number.POSITIVE_INFINITY)
    const isAtOnce = 'ids' in by && by.atOnce !== undefined
    const count = known.get(by) ?? (await countOf(database, base, by, isAtOnce ? mostAtOnce : bound))
    if (isAtOnce) known.set(by, count)
    if (count <= bound) least = { by, count }
  }
  return least
}

/** How many rows a filter leaves, at most one more than asked for. */
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
  return atOnce !== undefined && (await atOnce.isMoreThan(mostAtOnce))
}

/** True for a filter that was given. */
export function isThere<Filter extends Condition | Found>(
  filter: Filter,
): filter is Exclude<Filter, undefined | false | ''> {
  return Boolean(filter)
}
