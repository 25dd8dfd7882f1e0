import sql, { empty, join, raw, type Sql } from 'sql-template-tag'
import { isStorableText } from '../../codec/unicode-text.ts'
import { ProblemError } from '../problem/problem-error.ts'
import type { Cell, Database, Row } from './database.ts'

/** A list's order: what `sort` names, and the SQL expression behind each name. */
export interface Order {
  readonly sort: string
  readonly expressions: Readonly<Record<string, Sql>>
  /** Unique: the tie-break, and the last part of every cursor. */
  readonly id: Sql
}

/** A page of a list: `nextCursor` is null on the last one. */
export interface Page<Item> {
  data: Item[]
  nextCursor: string | null
  total?: number
  /** False where there are at least `total`, and maybe more. */
  totalIsExact?: boolean
}

/** A condition, or what an absent filter leaves behind. */
export type Condition = Sql | undefined | false | ''

/** `where a and b` of those that are there, or nothing. */
export function where(conditions: readonly Condition[]): Sql {
  const present = conditions.filter((condition): condition is Sql => Boolean(condition))
  return present.length === 0 ? empty : sql`where ${join(present, ' and ')}`
}

/** A period of a list's main time, both ends as ISO 8601 in UTC. */
export interface Period {
  readonly since?: string | undefined
  readonly until?: string | undefined
}

/** From the beginning of a period on, and before its end: one condition, since one search in an index takes both. */
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
 * All of these as one condition that no index is chosen for: each row that is looked at is judged by it, and what decides
 * which rows are looked at stands beside it.
 */
export function fenced(conditions: readonly Condition[]): Sql | undefined {
  const present = conditions.filter((condition): condition is Sql => Boolean(condition))
  return present.length === 0 ? undefined : sql`case when ${join(present, ' and ')} then 1 else 0 end = 1`
}

/** A cursor: opaque to callers, bound to the order it was made for. */
export function writeCursor(sort: string, ...values: readonly Cell[]): string {
  return Buffer.from(JSON.stringify([sort, ...values])).toString('base64url')
}

/** The value and id in a cursor of this order. Throws 400 `invalid_cursor`. */
export function readCursor(cursor: string, sort: string): [Cell, string] {
  const parts = readCursorParts(cursor, sort, 2)
  if (typeof parts[1] !== 'string') throw invalidCursor()
  return [parts[0] ?? null, parts[1]]
}

/** The values in a cursor of this order, `count` of them. */
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

/** True for what a row can have been sorted by. */
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
