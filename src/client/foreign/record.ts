import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import type { Held } from '../../contract/calls.ts'
import { keepOriginal } from '../original-record.ts'
import { bareName, nounOf, otherNames, wordsOf } from './names.ts'

/**
 * Returns the path of a field in a record of a platform: under its own name, in another spelling (`created_at`), under
 * another name (`_id`, `uuid`, `course_id` of a course), in a nested object (`course.id` for `courseId`), or among the
 * `attributes` of JSON:API. Null if the record does not have it.
 *
 * @param field a dotted path of the API, such as `profile.firstName`
 * @param noun kind of the record, such as `course`, after which its id may be named
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

/** Returns the value of a field in a record of a platform, at the path from `placeOf`; undefined if it has none. */
export function memberOf(thing: unknown, field: string, noun?: string): unknown {
  // A shortcut for the usual case: this is called for each cell.
  if (isJsonObject(thing) && Object.hasOwn(thing, field) && field !== 'id') return thing[field]
  return placeOf(thing, field, noun)?.reduce(
    (value: unknown, step) => (isJsonObject(value) ? value[step] : undefined),
    thing,
  )
}

/**
 * Returns the id of a record of a platform as text: its own, or that of a nested record of this noun, such as
 * `{"message": "created", "course": {"id": 5}}`. Null if there is none.
 */
export function idOf(thing: unknown, noun: string, field = 'id'): string | null {
  for (const each of thingsIn(thing, noun)) {
    const id = memberOf(each, field, noun)
    if (isIdentifier(id)) return String(id)
  }
  return null
}

/** Yields a record, and the nested records of this noun. */
export function* thingsIn(thing: unknown, noun: string): Generator<unknown> {
  yield thing
  for (const name of [...wordsOf(noun), 'data']) {
    const inner = memberOf(thing, name)
    if (inner !== undefined) yield inner
  }
}

function placeInside(thing: JsonObject, head: string, rest: string, noun?: string): readonly string[] | null {
  const outer = placeOf(thing, head, noun)
  // `first_name` at the top level, where the API has `profile.firstName`.
  if (outer === null) return placeOf(thing, rest, noun)
  const inner = placeOf(memberOf(thing, head, noun), rest)
  return inner && [...outer, ...inner]
}

/** Returns the record's key for a field. */
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

/** Returns the path of a reference, a nested record or an id under the noun: `{"course": {"id": 5}}`, `{"course": 5}`. */
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

/** Returns the path of an id, which MongoDB's Extended JSON encodes as `{"$oid": "65f0…"}`. */
function idSteps(thing: JsonObject, key: string): readonly string[] {
  const value = thing[key]
  return isJsonObject(value) && typeof value['$oid'] === 'string' ? [key, '$oid'] : [key]
}

/** True for text that is a title rather than an id, as in `{"course": "Marine biology"}`. */
function isTitle(value: string | number | bigint): boolean {
  return typeof value === 'string' && (/\s/.test(value) || !/\d/.test(value))
}

function isIdentifier(value: unknown): value is string | number | bigint {
  return typeof value === 'number' || typeof value === 'bigint' || (typeof value === 'string' && value !== '')
}

/** Fields of records in lists, which the paths of the contract do not include. */
const fieldsInLists: Readonly<Record<string, readonly string[]>> = {
  modules: ['id', 'title', 'description'],
}

/**
 * Adds the fields of a platform's record under the API's names, beside its own. Returns the same value if it already has
 * those names, or is not an object.
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
    // The paths of its fields follow and are copied one by one.
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
  keepOriginal(whole, { sent: thing, places })
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
  // Created by this function, so that changing it does not change the platform's record.
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

/** True if the platform's record has the same value under the same name. */
function isOwn(thing: JsonObject, name: string, value: unknown): boolean {
  if (!Object.hasOwn(thing, name)) return false
  const own = thing[name]
  if (Array.isArray(value)) return Array.isArray(own) && value.every((item, index) => item === own[index])
  if (!isJsonObject(value)) return value === own
  return isJsonObject(own) && Object.entries(value).every(([field, inner]) => isOwn(own, field, inner))
}
