import { isJsonObject, type JsonObject } from '../../codec/json-object.ts'
import type { Held } from '../../contract/calls.ts'
import { keepSent } from '../sent.ts'
import { bareName, nounOf, otherNames, wordsOf } from './names.ts'

/**
 * Where a field stands in a thing that a platform sent, as the steps to it: under its own name, spelt differently
 * (`created_at`), under another name (`_id`, `uuid`, `course_id` of a course), in an object that it belongs to
 * (`course.id` for `courseId`), or among the `attributes` of JSON:API. Null where it is not there.
 *
 * @param field a dotted path of the API, such as `profile.firstName`
 * @param noun what the thing is, such as `course`; its id may be called after it
 */
export function placeOf(thing: unknown, field: string, noun?: string): readonly string[] | null {
  if (!isJsonObject(thing)) return null
  if (Object.hasOwn(thing, field)) return field === 'id' ? idSteps(thing, field) : [field]
  const dot = field.indexOf('.')
  if (dot > 0) return placeInside(thing, field.slice(0, dot), field.slice(dot + 1), noun)

  const key = keyOf(thing, field, noun)
  if (key !== null) return field === 'id' ? idSteps(thing, key) : [key]
  const owner = /^(\w+)Id$/.exec(field)?.[1]
  const place = owner === undefined ? null : placeOfReference(thing, owner)
  if (place !== null) return place
  const { attributes } = thing
  const inner = isJsonObject(attributes) ? placeOf(attributes, field, noun) : null
  return inner && ['attributes', ...inner]
}

/** The value of a field in a thing that a platform sent, wherever `placeOf` finds it; undefined where it does not. */
export function memberOf(thing: unknown, field: string, noun?: string): unknown {
  // Most have it under its own name, and it is read once for each cell.
  if (isJsonObject(thing) && Object.hasOwn(thing, field) && field !== 'id') return thing[field]
  return placeOf(thing, field, noun)?.reduce(
    (value: unknown, step) => (isJsonObject(value) ? value[step] : undefined),
    thing,
  )
}

/**
 * The id of a thing that a platform sent, as text: its own, or that of the thing of this noun inside it, such as
 * `{"message": "created", "course": {"id": 5}}`. Null where it has none.
 */
export function idOf(thing: unknown, noun: string, field = 'id'): string | null {
  for (const each of thingsIn(thing, noun)) {
    const id = memberOf(each, field, noun)
    if (isIdentifier(id)) return String(id)
  }
  return null
}

/** A thing, and those of this noun inside it. */
export function* thingsIn(thing: unknown, noun: string): Generator<unknown> {
  yield thing
  for (const name of [...wordsOf(noun), 'data']) {
    const inner = memberOf(thing, name)
    if (inner !== undefined) yield inner
  }
}

function placeInside(thing: JsonObject, head: string, rest: string, noun?: string): readonly string[] | null {
  const outer = placeOf(thing, head, noun)
  // `first_name` beside the rest, where the API has it in `profile`.
  if (outer === null) return placeOf(thing, rest, noun)
  const inner = placeOf(memberOf(thing, head, noun), rest)
  return inner && [...outer, ...inner]
}

/** The thing's own key that means a field. */
function keyOf(thing: JsonObject, field: string, noun?: string): string | null {
  const bare = bareName(field)
  const names = [bare, ...(otherNames[bare] ?? []), ...(bare === 'id' ? wordsOf(noun).map(idName) : [])]
  const keys = Object.keys(thing)
  for (const name of names) {
    const key = keys.find((each) => bareName(each) === name)
    if (key !== undefined) return key
  }
  return null
}

function idName(noun: string): string {
  return `${bareName(noun)}id`
}

/** A reference that is the thing itself, or its id under the thing's name: `{"course": {"id": 5}}`, `{"course": 5}`. */
function placeOfReference(thing: JsonObject, owner: string): readonly string[] | null {
  const key = wordsOf(owner)
    .map((word) => keyOf(thing, word))
    .find((each) => each !== null)
  if (key === undefined || key === null) return null
  const value = thing[key]
  if (isIdentifier(value) && !isTitle(value)) return [key]
  const inner = placeOf(value, 'id', owner)
  return inner && [key, ...inner]
}

/** Extended JSON of MongoDB has an id as `{"$oid": "65f0…"}`. */
function idSteps(thing: JsonObject, key: string): readonly string[] {
  const value = thing[key]
  return isJsonObject(value) && typeof value['$oid'] === 'string' ? [key, '$oid'] : [key]
}

/** `{"course": "Marine biology"}` says which course it is, but not by its id. */
function isTitle(value: string | number | bigint): boolean {
  return typeof value === 'string' && (/\s/.test(value) || !/\d/.test(value))
}

function isIdentifier(value: unknown): value is string | number | bigint {
  return typeof value === 'number' || typeof value === 'bigint' || (typeof value === 'string' && value !== '')
}

/** The fields of things in lists, which no path of the contract names. */
const fieldsInLists: Readonly<Record<string, readonly string[]>> = {
  modules: ['id', 'title', 'description'],
}

/**
 * A thing that a platform sent with its fields under the API's names as well; those of the platform stay beside them. The
 * same value where it has the API's names already, and where it is no object.
 */
export function recordOf<Thing>(
  thing: Thing,
  operation: { readonly id: string; readonly holds?: Pick<Held, 'answer'> | undefined },
): Thing | JsonObject {
  if (!isJsonObject(thing) || !operation.holds) return thing
  const paths = operation.holds.answer
  const noun = nounOf(operation)
  const record: Record<string, unknown> = {}
  const places: string[] = []
  for (const [index, path] of paths.entries()) {
    const place = placeOf(thing, path, noun)
    const value = place === null ? undefined : memberOf(thing, path, noun)
    // An object with fields that are known comes field by field; they follow it.
    const isOuter = isJsonObject(value) && paths[index + 1]?.startsWith(`${path}.`) === true
    if (place === null || value === undefined || isOuter) continue
    if (place.join('.') !== path) places.push(place.join('.'))
    const fields = fieldsInLists[path]
    const isList = Array.isArray(value) && fields !== undefined
    setAt(record, path.split('.'), isList ? value.map((item) => itemOf(item, fields)) : value)
  }
  const isSame = Object.entries(record).every(([name, value]) => isOwn(thing, name, value))
  if (isSame) return thing
  const whole = { ...thing, ...record }
  keepSent(whole, { sent: thing, places })
  return whole
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
