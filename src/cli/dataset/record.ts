import type * as z from 'zod'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { addressField } from './shown-records.ts'

/** Returns the fields of a schema that a shown value has; write-only fields are never shown. */
export function ofFields(schema: z.ZodObject, shown: JsonObject): JsonObject {
  const record: JsonObject = {}
  for (const field in schema.shape) if (shown[field] !== undefined) record[field] = shown[field]
  return record
}

/** Drops an external id that is the id or URL of the current record, as exports write it for records without one. */
export function withoutOwnId(record: JsonObject, current: JsonObject | null): JsonObject {
  if (current === null || ![current['id'], current[addressField]].includes(record['externalId']))
    return record
  const { externalId: _, ...rest } = record
  return rest
}

/**
 * Returns the things of a list without the API's ids.
 *
 * @param inside field of each thing with a nested list
 */
export function withoutIds(list: unknown, inside?: string): unknown {
  if (!Array.isArray(list)) return list
  return list.map((item) => {
    if (!isJsonObject(item)) return item
    const { id: _, ...rest } = item
    return inside === undefined || rest[inside] === undefined
      ? rest
      : { ...rest, [inside]: withoutIds(rest[inside]) }
  })
}
