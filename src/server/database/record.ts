import type * as z from 'zod'
import { fieldsOf } from '../../contract/fields.ts'
import type { Row } from './database.ts'

/**
 * Returns a function that makes records of rows: the column of a field has its name in snake case, `createdAt` that of
 * `created_at`.
 *
 * @param json fields that are stored as JSON
 */
export function recordReader<Shape>(
  schema: z.ZodType<Shape>,
  json: readonly (keyof Shape & string)[] = [],
): (row: Row) => Shape {
  let fields: readonly string[] | undefined
  return (row) => {
    fields ??= Object.keys(fieldsOf(schema) ?? {})
    // The columns of the statement are those of the schema.
    return readFields(row, fields, json) as Shape
  }
}

export function readFields(
  row: Row,
  fields: readonly string[],
  json: readonly string[],
): Record<string, unknown> {
  const entries = fields.map((field) => {
    const value = row[columnOf(field)] ?? null
    return [field, json.includes(field) && typeof value === 'string' ? JSON.parse(value) : value]
  })
  return Object.fromEntries(entries)
}

export function columnOf(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
