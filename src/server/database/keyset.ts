import sql, { empty, join, raw, type Sql } from 'sql-template-tag'
import { ProblemError } from '../problem/problem-error.ts'
import type { Cell, Database, Row } from './database.ts'

/** A list's order: what `sort` names, and the SQL expression behind each name. */
export interface Order {
  readonly sort: string
  readonly expressions: Readonly<Record<string, Sql>>
  /** Unique: the tie-break, and the last part of every cursor. */
  readonly id: Sql
}

interface PageQuery {
  readonly limit: number
  readonly cursor?: string | undefined
  readonly include_total: boolean
}

/** A page of a list: `nextCursor` is null on the last one. */
export interface Page<Item> {
  data: Item[]
  nextCursor: string | null
  total?: number
}

/**
 * One page by keyset: the rows after the cursor in this order, so that rows that come or go meanwhile shift
 * nothing. Counts only when asked to. Throws 400 `invalid_cursor` for a cursor that no such list gave out.
 */
export function page<Shape extends Row, Item>(
  database: Database,
  select: { columns: Sql; from: Sql; where: readonly Condition[] },
  order: Order,
  { limit, cursor, include_total }: PageQuery,
  show: (row: Shape) => Item,
): Page<Item> {
  const descending = order.sort.startsWith('-')
  const field = descending ? order.sort.slice(1) : order.sort
  const expression = order.expressions[field] ?? order.id
  const direction = raw(descending ? 'desc' : 'asc')
  const after =
    cursor === undefined
      ? []
      : [afterCursor(readCursor(cursor, order.sort), expression, order.id, descending)]
  const rows = database.all<Shape & { cursor_value: Cell; cursor_id: string }>(sql`
    select ${select.columns}, ${expression} as cursor_value, ${order.id} as cursor_id
    from ${select.from}
    ${where([...select.where, ...after])}
    order by ${expression} ${direction}, ${order.id} ${direction}
    limit ${limit + 1}`)
  const last = rows.length > limit ? rows[limit - 1] : undefined
  const answer: Page<Item> = {
    data: rows.slice(0, limit).map(show),
    nextCursor: last ? writeCursor(order.sort, last.cursor_value, last.cursor_id) : null,
  }
  if (!include_total) return answer
  const count = database.one<{ total: number }>(
    sql`select count(*) as total from ${select.from} ${where(select.where)}`,
  )
  return { ...answer, total: count?.total ?? 0 }
}

/** A condition, or what an absent filter leaves behind. */
export type Condition = Sql | undefined | false | ''

/** `where a and b` of those that are there, or nothing. */
export function where(conditions: readonly Condition[]): Sql {
  const present = conditions.filter((condition): condition is Sql => Boolean(condition))
  return present.length === 0 ? empty : sql`where ${join(present, ' and ')}`
}

function afterCursor(
  [value, id]: readonly [Cell, string],
  expression: Sql,
  key: Sql,
  descending: boolean,
): Sql {
  const beyond = raw(descending ? '<' : '>')
  return sql`(${expression}, ${key}) ${beyond} (${value}, ${id})`
}

/** A cursor: opaque to callers, bound to the order it was made for. */
export function writeCursor(sort: string, ...values: readonly Cell[]): string {
  return Buffer.from(JSON.stringify([sort, ...values])).toString('base64url')
}

/** The value and id in a cursor of this order. */
function readCursor(cursor: string, sort: string): [Cell, string] {
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
  if (!values.every((value) => typeof value === 'string' || typeof value === 'number')) throw invalidCursor()
  // Checked one line above; the compiler does not carry `every` over to the array.
  return values as Cell[]
}

function invalidCursor(): ProblemError {
  const detail = 'must be nextCursor of the previous page of this list, in the same order'
  return new ProblemError('invalid_cursor', `Parameter cursor ${detail}.`, {
    errors: [{ parameter: 'cursor', code: 'invalid_cursor', detail }],
  })
}
