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

/** Returns the name of a thing in a list, such as the title of a module. */
type NameOf = (item: JsonObject) => unknown

/**
 * Returns the things with their ids in the current list, so that references to them survive: matched by name, else by
 * place, each current thing at most once.
 *
 * @param inside field of each thing with a nested list
 */
export function withKnownIds(
  list: unknown,
  current: unknown,
  nameOf: NameOf,
  inside?: { readonly field: string; readonly nameOf: NameOf },
): unknown {
  if (!Array.isArray(list) || !Array.isArray(current)) return list
  const free = new Set(current.filter(isJsonObject))
  const take = (known: JsonObject | undefined) => (known && free.delete(known) ? known : undefined)
  const named = list.map((item: unknown) =>
    isJsonObject(item) ? take([...free].find((each) => isSame(item, each, nameOf))) : undefined,
  )
  return list.map((item: unknown, index) => {
    const known = named[index] ?? take(current[index])
    if (!isJsonObject(item) || !known) return item
    const things = inside && withKnownIds(item[inside.field], known[inside.field], inside.nameOf)
    return { id: known['id'], ...item, ...(inside && things !== undefined && { [inside.field]: things }) }
  })
}

function isSame(item: JsonObject, known: JsonObject, nameOf: NameOf): boolean {
  return item['id'] === undefined ? nameOf(item) === nameOf(known) : item['id'] === known['id']
}
