import type { Sql } from 'sql-template-tag'
import type { Cell, Database, Row } from '../database.ts'
import type { Answer } from './connection.ts'

/** Sends one statement. */
export type Send = (query: Sql) => Promise<Answer>

/** Returns the methods that read the rows of a statement. */
export function statementsBy(send: Send): Pick<Database, 'one' | 'all' | 'cells' | 'run'> {
  return {
    // The caller names the shape; the type system cannot check it against the SQL.
    one: async <Shape extends Row>(query: Sql) => {
      const { fields, rows } = await send(query)
      return rows[0] && (rowOf(fields, rows[0]) as Shape)
    },
    all: async <Shape extends Row>(query: Sql) => {
      const { fields, rows } = await send(query)
      return rows.map((cells) => rowOf(fields, cells) as Shape)
    },
    cells: async (query) => (await send(query)).rows,
    run: async (query) => (await send(query)).touched,
  }
}

function rowOf(fields: Answer['fields'], cells: readonly Cell[]): Row {
  const row: Record<string, Cell> = {}
  for (let index = 0; index < fields.length; index += 1) row[fields[index]?.name ?? ''] = cells[index] ?? null
  return row
}

/** Converts parameters to cells: a boolean is 1 or 0, as in SQLite. */
export function valuesOf({ values }: Sql): Cell[] {
  return values.map((value) => {
    if (typeof value === 'boolean') return Number(value)
    if (value === null || typeof value === 'string' || typeof value === 'number') return value
    throw new TypeError(`A statement cannot take a value of type ${typeof value}`)
  })
}
