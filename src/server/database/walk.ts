import sql, { raw, type Sql } from 'sql-template-tag'
import type { Cell, Database, Row } from './database.ts'
import { type Condition, type Order, readCursor, where } from './keyset.ts'

/** Where a row stands in an order. */
export interface Place extends Row {
  readonly cursor_value: Cell
  readonly cursor_id: string
}

/** A condition that is a part of the index of a sort. */
export interface Within {
  /** What is sorted by, as `sort` names it. */
  readonly field: string
  readonly condition: Condition
}

/** A way through the index of a sort. */
export interface Walk {
  /** What is sorted by, as `sort` names it. */
  readonly field: string
  readonly id: Sql
  /** The columns of a Place. */
  readonly place: Sql
  readonly ordered: Sql
  /** The same order, of places alone. */
  readonly orderedPlaces: Sql
  /**
   * Conditions that are a part of the index: beyond the cursor, and within what is asked for. Of several that are about where
   * a walk begins or ends SQLite takes the first: that which is nearest comes first in a statement.
   */
  readonly after: Condition
  readonly within: readonly Condition[]
  /** The conditions on rows not beyond a place, and on those beyond it. */
  readonly upTo: (place: Place) => Sql
  readonly beyond: (place: Place) => Sql
}

/** The way through an order, from a cursor on. Throws 400 `invalid_cursor`. */
export function walkOf(
  { sort, expressions, id }: Order,
  cursor: string | undefined,
  within: readonly Within[],
): Walk {
  const descending = sort.startsWith('-')
  const field = descending ? sort.slice(1) : sort
  const expression = expressions[field] ?? id
  const direction = raw(descending ? 'desc' : 'asc')
  const [beyond, before] = descending ? [raw('<'), raw('>=')] : [raw('>'), raw('<=')]
  // Where ids are the order, SQLite finds no place in the index by both.
  const isOrderOfIds = expression.sql === id.sql
  const placed = (sign: Sql, value: Cell, key: string) =>
    isOrderOfIds ? sql`${id} ${sign} ${key}` : sql`(${expression}, ${id}) ${sign} (${value}, ${key})`
  const [value = null, key = ''] = cursor === undefined ? [] : readCursor(cursor, sort)
  return {
    field,
    id,
    place: sql`${expression} as cursor_value, ${id} as cursor_id`,
    ordered: sql`order by ${expression} ${direction}, ${id} ${direction}`,
    orderedPlaces: sql`order by cursor_value ${direction}, cursor_id ${direction}`,
    after: cursor !== undefined && placed(beyond, value, key),
    within: within.filter((one) => one.field === field).map(({ condition }) => condition),
    upTo: (place) => placed(before, place.cursor_value, place.cursor_id),
    beyond: (place) => placed(beyond, place.cursor_value, place.cursor_id),
  }
}

/** The place of the last of so many rows of a walk; undefined where there are fewer. */
export async function placeAfter(
  database: Database,
  base: Sql,
  walk: Walk,
  rows: number,
): Promise<Place | undefined> {
  return database.one<Place>(sql`
    select ${walk.place} from ${base} ${where([walk.after, ...walk.within])} ${walk.ordered} limit 1 offset ${rows - 1}`)
}
