import { isDeepStrictEqual } from 'node:util'
import { isJsonObject, type JsonObject, jsonText } from '../../codec/json-text.ts'

/** A field with a new value, as a dotted path; undefined is no value. */
export interface NamedChange {
  readonly field: string
  readonly from: unknown
  readonly to: unknown
}

/** Fields that identify the items of a list, the most specific first. */
const naming = ['name', 'title', 'prompt', 'text'] as const
const maxCharacters = 50

/**
 * Splits a change of a field into changes of single values: items of lists are identified by name (`weights.Exam`),
 * items of lists of texts by themselves.
 */
export function namedChanges(field: string, before: unknown, after: unknown): NamedChange[] {
  if (isDeepStrictEqual(before ?? undefined, after ?? undefined)) return []
  if (isJsonObject(before) && isJsonObject(after)) return inObjects(field, before, after)
  if (isList(before) && isList(after)) return inLists(field, before ?? [], after ?? [])
  return [{ field, from: before, to: after }]
}

/**
 * Returns a change on one line: `weights.Exam: 60 → 70`, `modules.Deep: added`; for long text only that it differs.
 */
export function changeText(change: NamedChange): string {
  const [from, to] = changeTexts(change)
  if (from !== null && to !== null) return `${change.field}: ${from} → ${to}`
  return `${change.field}: ${wordFor(change)}`
}

/** Null for a value that is too long or not single. */
export function changeTexts(change: NamedChange): readonly [string | null, string | null] {
  return [valueText(change.from), valueText(change.to)]
}

export function wordFor(change: NamedChange): string {
  return isNone(change.from) ? 'added' : isNone(change.to) ? 'removed' : 'changed'
}

function inObjects(field: string, from: JsonObject, to: JsonObject): NamedChange[] {
  const names = new Set([...Object.keys(from), ...Object.keys(to)])
  return [...names].flatMap((name) => namedChanges(`${field}.${name}`, from[name], to[name]))
}

function inLists(field: string, from: readonly unknown[], to: readonly unknown[]): NamedChange[] {
  const [before, after] = [byName(from), byName(to)]
  if (!before || !after) return [{ field, from, to }]
  const names = [...new Set([...before.keys(), ...after.keys()])]
  const changes = names.flatMap((name): NamedChange[] => {
    const [one, other] = [before.get(name), after.get(name)]
    // Text is both name and value.
    if (!isJsonObject(one ?? other)) {
      return before.has(name) && after.has(name) ? [] : [{ field, from: one, to: other }]
    }
    const place = `${field}.${name}`
    const [was, is] = [withoutName(one), withoutName(other)]
    return one === undefined || other === undefined
      ? [{ field: place, from: was, to: is }]
      : namedChanges(place, was, is)
  })
  // Only the order changed.
  return changes.length > 0
    ? changes
    : [{ field: `${field} (order)`, from: [...before.keys()], to: [...after.keys()] }]
}

/** Null if the items have no unique names. */
function byName(list: readonly unknown[]): ReadonlyMap<string, unknown> | null {
  const items = new Map<string, unknown>()
  for (const item of list) {
    const name = isJsonObject(item) ? nameOf(item) : typeof item === 'object' ? null : String(item)
    if (name === null || items.has(name)) return null
    items.set(name, item)
  }
  return items
}

function nameOf(item: JsonObject): string | null {
  const name = naming.map((field) => item[field]).find((value) => typeof value === 'string')
  return typeof name === 'string' && name.length <= maxCharacters ? name : null
}

/** Returns an item without its name; its only value if it has just one, such as the weight of a criterion. */
function withoutName(item: unknown): unknown {
  if (!isJsonObject(item)) return item
  const field = naming.find((each) => typeof item[each] === 'string')
  const others = Object.entries(item).filter(([name]) => name !== field && name !== 'id')
  const [only] = others
  if (others.length === 1 && only && typeof only[1] !== 'object') return only[1]
  return Object.fromEntries(others)
}

function isList(value: unknown): value is readonly unknown[] | null | undefined {
  return isNone(value) || Array.isArray(value)
}

function isNone(value: unknown): boolean {
  return value === undefined || value === null
}

/** Null for a value that is not short and single. */
function valueText(value: unknown): string | null {
  if (isNone(value)) return 'none'
  if (typeof value === 'object') {
    const texts =
      Array.isArray(value) && value.every((item) => typeof item === 'string') ? value.join(', ') : null
    return texts !== null && texts !== '' && texts.length <= maxCharacters ? texts : null
  }
  const text = typeof value === 'string' ? JSON.stringify(value) : jsonText(value)
  return text.length <= maxCharacters ? text : null
}
