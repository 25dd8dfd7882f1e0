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
  let columns: readonly (readonly [field: string, column: string])[] | undefined
  const isJson = new Set<string>(json)
  return (row) => {
    columns ??= Object.keys(fieldsOf(schema) ?? {}).map((field) => [
      field,
      field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    ])
    const entries = columns.map(([field, column]) => {
      const value = row[column] ?? null
      return [field, isJson.has(field) && typeof value === 'string' ? JSON.parse(value) : value]
    })
    // The columns of the statement are those of the schema.
    return Object.fromEntries(entries) as Shape
  }
}
