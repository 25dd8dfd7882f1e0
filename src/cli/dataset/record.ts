import type * as z from 'zod'
import { isJsonObject, type JsonObject } from '../../codec/json-object.ts'
import { addressField } from './shown-records.ts'

/** The fields of a schema that are in a value that the API shows; write-only ones never are. */
export function ofFields(schema: z.ZodObject, shown: JsonObject): JsonObject {
  const fields = Object.keys(schema.shape).filter((field) => shown[field] !== undefined)
  return Object.fromEntries(fields.map((field) => [field, shown[field]]))
}

/** A record without an external id that is the id or the URL of the current one: so exports call what has none of its own. */
export function withoutOwnId(record: JsonObject, current: JsonObject | null): JsonObject {
  if (current === null || ![current['id'], current[addressField]].includes(record['externalId']))
    return record
  const { externalId: _, ...rest } = record
  return rest
}

/**
 * The things in a list of a record without the ids that the API gave them.
 *
 * @param inside the field of each in which there is such a list again
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

/** What things of a list are called, such as a module by its title. */
type NameOf = (item: JsonObject) => unknown

/**
 * The same things with the ids that they have in the current list, so that nothing that refers to them is lost: a thing
 * is the one of the same name, else the one at its place, each taken once.
 *
 * @param inside the field of each in which there is such a list again
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
