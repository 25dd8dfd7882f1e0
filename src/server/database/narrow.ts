import sql, { type Sql } from 'sql-template-tag'
import type { Database, Row } from './database.ts'
import type { Condition } from './keyset.ts'

/** Rows that another table finds: a statement that selects their ids, and what each of these rows has to meet besides. */
export interface Found {
  readonly ids: Sql
  readonly test: Sql
}

/** The filter that leaves the fewest rows, few enough to sort. */
export interface Least {
  readonly by: Sql | Found
  readonly count: number
}

/** So many rows are sorted whose index holds what they are sorted by. A total is exact up to here. */
export const many = 10_000
/** So many rows are sorted that have to be looked up one by one, where the index of the sort leads to no page. */
export const most = 20_000
/** So many of these are sorted without a look at that index. */
const few = 2_000

/** The narrowest of some filters of a table; undefined where each of them leaves too many rows to sort. */
export function leastOf(
  database: Database,
  base: Sql,
  narrow: readonly (Sql | Found)[],
  foundRows = few,
): Least | undefined {
  let least: Least | undefined
  for (const by of narrow) {
    const rows = 'ids' in by ? by.ids : sql`select 1 from ${base} where ${by}`
    const bound = Math.min('ids' in by ? foundRows : many, least?.count ?? most)
    const { count } = database.one<Row & { count: number }>(
      sql`select count(*) as count from (${rows} limit ${bound + 1}) found`,
    ) ?? { count: 0 }
    if (count <= bound) least = { by, count }
  }
  return least
}

/** True for a filter that was given. */
export function isThere<Filter extends Condition | Found>(
  filter: Filter,
): filter is Exclude<Filter, undefined | false | ''> {
  return Boolean(filter)
}
