import type { JsonObject } from '../../codec/json-text.ts'
import type { Dataset } from '../dataset/dataset.ts'
import { valueAt } from '../output/columns.ts'

/** Returns the columns of a record whose values have spaces around them that the schema removes. */
export function trimmedColumns({ columns, schema }: Dataset, record: JsonObject): string[] {
  return columns.flatMap(({ kind, name, path }) => {
    const value = kind === 'text' ? valueAt(record, path) : undefined
    if (typeof value !== 'string' || value.trim() === value) return []
    const [field = '', ...inside] = path.split('.')
    const parsed = schema.shape[field]?.safeParse(record[field])
    const stored = inside.length === 0 ? parsed?.data : valueAt(parsed?.data, inside.join('.'))
    return parsed?.success && stored !== value ? [name] : []
  })
}
