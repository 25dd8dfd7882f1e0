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
  let read: ((row: Row) => Record<string, unknown>) | undefined
  return (row) => {
    read ??= fieldReader(Object.keys(fieldsOf(schema) ?? {}), json)
    // The columns of the statement are those of the schema.
    return read(row) as Shape
  }
}

export function fieldReader(
  fields: readonly string[],
  json: readonly string[],
): (row: Row) => Record<string, unknown> {
  const columns = fields.map((field) => [field, columnOf(field), json.includes(field)] as const)
  return (row) => {
    const record: Record<string, unknown> = {}
    for (const [field, column, isJson] of columns) {
      const value = row[column] ?? null
      record[field] = isJson && typeof value === 'string' ? JSON.parse(value) : value
    }
    return record
  }
}

export function columnOf(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
