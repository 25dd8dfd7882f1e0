import { isJsonObject, type JsonObject } from '../../codec/json-object.ts'
import type { Held } from '../../contract/calls.ts'
import { memberOf } from '../member.ts'
import { nounOf } from '../nouns.ts'

/** The fields of things in lists, which no path of the contract names. */
const fieldsInLists: Readonly<Record<string, readonly string[]>> = {
  modules: ['id', 'title', 'description'],
}

/**
 * A thing that a platform sent with its fields under the API's names as well; those of the platform stay beside them. The
 * same object where it has the API's names already.
 */
export function recordOf(
  thing: JsonObject,
  { id, holds }: { readonly id: string; readonly holds: Pick<Held, 'answer'> },
): JsonObject {
  const noun = nounOf({ id })
  const record: Record<string, unknown> = {}
  for (const [index, path] of holds.answer.entries()) {
    const value = memberOf(thing, path, noun)
    // An object with fields that are known comes field by field; they follow it.
    const isOuter = isJsonObject(value) && holds.answer[index + 1]?.startsWith(`${path}.`) === true
    if (value === undefined || isOuter) continue
    const fields = fieldsInLists[path]
    const isList = Array.isArray(value) && fields !== undefined
    setAt(record, path.split('.'), isList ? value.map((item) => itemOf(item, fields)) : value)
  }
  const isSame = Object.entries(record).every(([name, value]) => isOwn(thing, name, value))
  return isSame ? thing : { ...thing, ...record }
}

function setAt(
  record: Record<string, unknown>,
  [head = '', ...rest]: readonly string[],
  value: unknown,
): void {
  if (rest.length === 0) {
    record[head] = value
    return
  }
  const known = record[head]
  // Made here: nothing of the thing is changed.
  const inner: Record<string, unknown> = isJsonObject(known) ? (known as Record<string, unknown>) : {}
  record[head] = inner
  setAt(inner, rest, value)
}

function itemOf(item: unknown, fields: readonly string[]): unknown {
  if (!isJsonObject(item) || fields.every((field) => Object.hasOwn(item, field))) return item
  const values = fields.flatMap((field) => {
    const value = memberOf(item, field, 'module')
    return value === undefined ? [] : [[field, value] as const]
  })
  return Object.fromEntries(values)
}

/** True where a field stands in the thing as it stands in its record. */
function isOwn(thing: JsonObject, name: string, value: unknown): boolean {
  if (!Object.hasOwn(thing, name)) return false
  const own = thing[name]
  if (Array.isArray(value)) return Array.isArray(own) && value.every((item, index) => item === own[index])
  if (!isJsonObject(value)) return value === own
  return isJsonObject(own) && Object.entries(value).every(([field, inner]) => isOwn(own, field, inner))
}
