import * as z from 'zod'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { isDay } from '../../codec/time-text.ts'
import { bare } from '../../contract/fields.ts'

/** Returns a value with its days converted to times, 00:00 UTC, where the schema has times, at any depth. */
export function withDays(schema: z.ZodType, value: unknown): unknown {
  const inner = bare(schema)
  if (inner instanceof z.ZodArray && Array.isArray(value)) {
    return value.map((item) => withDays(inner.element as z.ZodType, item))
  }
  if (inner instanceof z.ZodObject && isJsonObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => {
        const field = Object.hasOwn(inner.shape, name) ? (inner.shape[name] as z.ZodType) : null
        return [name, field ? withDays(field, member) : member]
      }),
    ) satisfies JsonObject
  }
  const isTime = inner instanceof z.ZodString && inner.meta()?.['format'] === 'date-time'
  return isTime && typeof value === 'string' && isDay(value) ? `${value}T00:00:00.000Z` : value
}
