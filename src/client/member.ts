import { isJsonObject, type JsonObject } from '../codec/json-object.ts'
import { wordsOf } from './nouns.ts'

/**
 * Other names under which platforms keep a field, without case and separators, most telling first. What differs only
 * in those (`created_at` for `createdAt`) needs no entry.
 */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  id: ['uuid', 'guid', 'insertedid'],
  createdat: ['created', 'createdon', 'insertedat', 'datecreated'],
  updatedat: ['updated', 'updatedon', 'modifiedat', 'lastmodified'],
  learnerid: ['userid', 'studentid'],
  userid: ['learnerid', 'studentid'],
  completionpercentage: ['completionpercent', 'percentcomplete', 'progresspercentage', 'progresspercent'],
  lastaccessed: ['lastaccessedat', 'lastaccess', 'lastactivity', 'lastactivityat'],
  version: ['lockversion', 'revision'],
  email: ['emailaddress'],
  title: ['name'],
}

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

/** A name without case and separators: `created_at`, `createdAt` and `CreatedAt` are one. */
export function bareName(name: string): string {
  const known = bareNames.get(name)
  if (known !== undefined) return known
  const bare = name.replace(/[_\-\s]/g, '').toLowerCase()
  if (bareNames.size < maximumBareNames) bareNames.set(name, bare)
  return bare
}

/** Every row of a list has the same names. */
const bareNames = new Map<string, string>()
const maximumBareNames = 10_000

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
