import sql, { empty, join, raw, type Sql } from 'sql-template-tag'
import { isStorableText } from '../../codec/unicode-text.ts'
import { ProblemError } from '../problem-error.ts'
import type { Cell, Database, Row } from './database.ts'

/** Order of a list: the fields of `sort` with the SQL expression of each. */
export interface Order {
  readonly sort: string
  readonly expressions: Readonly<Record<string, Sql>>
  /** Unique: breaks ties and ends every cursor. */
  readonly id: Sql
}

/** A page of a list; `nextCursor` is null on the last page. */
export interface Page<Item> {
  data: Item[]
  nextCursor: string | null
  total?: number
  /** False if `total` is a lower bound. */
  totalIsExact?: boolean
}

/** An optional condition; falsy if its filter is absent. */
export type Condition = Sql | undefined | false | ''

/** Joins the present conditions to `where a and b`; empty without any. */
export function where(conditions: readonly Condition[]): Sql {
  const present = conditions.filter((condition): condition is Sql => Boolean(condition))
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
  const present = conditions.filter((condition): condition is Sql => Boolean(condition))
  return present.length === 0 ? undefined : sql`case when ${join(present, ' and ')} then 1 else 0 end = 1`
}

/** Encodes an opaque cursor that is valid only for this order. */
export function writeCursor(sort: string, ...values: readonly Cell[]): string {
  return Buffer.from(JSON.stringify([sort, ...values])).toString('base64url')
}

/** Decodes the value and id in a cursor of this order. Throws 400 `invalid_cursor`. */
export function readCursor(cursor: string, sort: string): [Cell, string] {
  const parts = readCursorParts(cursor, sort, 2)
  if (typeof parts[1] !== 'string') throw invalidCursor()
  return [parts[0] ?? null, parts[1]]
}

/** Decodes the `count` values in a cursor of this order. */
export function readCursorParts(cursor: string, sort: string, count: number): Cell[] {
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

/** True for a value that a row can be sorted by. */
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

/** Position of a row in an order. */
export interface Place extends Row {
  readonly cursor_value: Cell
  readonly cursor_id: string
}

/** A condition on columns of the index of a sort. */
export interface Within {
  /** The sort field. */
  readonly field: string
  readonly condition: Condition
}

/** A scan along the index of a sort. */
export interface Walk {
  /** The sort field. */
  readonly field: string
  readonly id: Sql
  /** Selects the columns of a Place. */
  readonly place: Sql
  readonly ordered: Sql
  /** The same order for a subquery of places. */
  readonly orderedPlaces: Sql
  /**
   * Conditions on the index: beyond the cursor, and within the filters. Of several bounds on the same end SQLite uses
   * the first, so the tightest one comes first.
   */
  readonly after: Condition
  readonly within: readonly Condition[]
  /** Returns the conditions on rows up to a place, and on the rows after it. */
  readonly upTo: (place: Place) => Sql
  readonly beyond: (place: Place) => Sql
}

/** Returns the scan of an order from a cursor on. Throws 400 `invalid_cursor`. */
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
  // When sorting by id, SQLite cannot seek in the index with a comparison of (id, id).
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

/** Returns the place of the n-th row of a scan; undefined if there are fewer rows. */
export async function placeAfter(
  database: Database,
  base: Sql,
  walk: Walk,
  rows: number,
): Promise<Place | undefined> {
  return database.one<Place>(sql`
    select ${walk.place} from ${base} ${where([walk.after, ...walk.within])} ${walk.ordered} limit 1 offset ${rows - 1}`)
}
