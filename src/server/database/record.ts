import sql from 'sql-template-tag'
import type { Call } from '../../contract/calls.ts'
import type { Database, Row } from './database.ts'

/**
 * Returns a function that makes the records that an operation shows of rows: the column of a field has its name in snake case,
 * `createdAt` that of `created_at`.
 *
 * @param json fields that are stored as JSON
 */
export function recordReader<Shape>(
  { holds }: Pick<Call, 'holds'>,
  json: readonly (keyof Shape & string)[] = [],
): (row: Row) => Shape {
  return fieldReader(
    holds.answer.filter((path) => !path.includes('.')),
    json,
  )
}

export function fieldReader<Shape = Record<string, unknown>>(
  fields: readonly string[],
  json: readonly string[] = [],
): (row: Row) => Shape {
  const columns = fields.map((field) => [field, columnOf(field), json.includes(field)] as const)
  return (row) => {
    const record: Record<string, unknown> = {}
    for (const [field, column, isJson] of columns) {
      const value = row[column] ?? null
      record[field] = isJson && typeof value === 'string' ? JSON.parse(value) : value
    }
    return record as Shape
  }
}

export function columnOf(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

export async function writeSetting(database: Database, name: string, value: string): Promise<void> {
  await database.run(sql`
    insert into settings (name, value) values (${name}, ${value})
    on conflict (name) do update set value = excluded.value`)
}
