import type * as z from 'zod'
import { type JsonObject, jsonText } from '../../codec/json-text.ts'
import { LessonRecord } from '../dataset/lessons.ts'
import { withoutDefaults } from './compare.ts'
import type { Entry } from './entries.ts'

/** A lesson without defaults, and the key of its module; undefined for a new module. */
export interface KeyedLesson {
  readonly record: JsonObject
  readonly moduleId: unknown
}

/** Schema of a lesson without its place. */
export const LessonAttributes = LessonRecord.omit({ courseId: true, module: true, order: true })

/** Returns a lesson without its place. */
export function attributesOf({
  courseId: _course,
  module: _module,
  order: _order,
  ...fields
}: JsonObject): JsonObject {
  return fields
}

/** Returns the form of a lesson that `matchLessons` compares. */
export function keyedLesson(record: JsonObject, moduleId: unknown): KeyedLesson {
  return { record: canonical(LessonAttributes, attributesOf(record)), moduleId }
}

/** Returns a record in the form of its schema, without defaults. */
export function canonical(schema: z.ZodObject, record: JsonObject): JsonObject {
  const parsed = schema.safeParse(record)
  // The result of an object is an object.
  return withoutDefaults(schema, parsed.success ? parsed.data : record) as JsonObject
}

/** Keys that match lessons of a file with existing ones, the most specific first. */
const keys: readonly ((lesson: KeyedLesson) => string | null)[] = [
  ({ record }) => (typeof record['externalId'] === 'string' ? record['externalId'] : null),
  ({ record, moduleId }) => jsonText([record['title'], moduleId === undefined ? '' : moduleId]),
  ({ record }) => String(record['title']),
  // The same content under a new title.
  ({ record: { title: _title, externalId: _externalId, managedBy: _label, ...content } }) =>
    content['contentBlocks'] || content['assessments'] || content['description'] ? jsonText(content) : null,
]

/**
 * Matches lessons of a file with lessons of a course: by external id, else by title, first in the same module, else
 * by content. Lessons with different external ids never match; each is matched at most once.
 */
export function matchLessons<Wanted extends KeyedLesson, Current extends KeyedLesson>(
  wanted: readonly Wanted[],
  current: readonly Current[],
): ReadonlyMap<Wanted, Current> {
  const found = new Map<Wanted, Current>()
  const taken = new Set<Current>()
  for (const keyOf of keys) {
    const free = Map.groupBy(
      current.filter((lesson) => !taken.has(lesson)),
      keyOf,
    )
    for (const lesson of wanted) {
      const key = found.has(lesson) ? null : keyOf(lesson)
      const same =
        key === null ? undefined : free.get(key)?.find((each) => !taken.has(each) && mayBe(lesson, each))
      if (!same) continue
      found.set(lesson, same)
      taken.add(same)
    }
  }
  return found
}

function mayBe({ record }: KeyedLesson, { record: other }: KeyedLesson): boolean {
  const [one, another] = [record['externalId'] ?? null, other['externalId'] ?? null]
  return one === null || another === null || one === another
}

/** An existing lesson, as the API shows it, that no entry matches by key. */
export interface ShownLesson extends KeyedLesson {
  readonly shown: JsonObject
  /** Key of its course. */
  readonly course: string
}

/**
 * Matches lessons that no entry matches by key: by title and content, or for a saved plan by the ids that it
 * recorded.
 */
export function lessonsMatched(
  entries: readonly Entry[],
  lessons: readonly ShownLesson[],
): ReadonlyMap<ShownLesson, Entry> {
  if (lessons.length === 0) return new Map()
  const planned = new Map(entries.map((entry) => [entry.plannedId, entry]))
  const found = new Map<ShownLesson, Entry>()
  for (const lesson of lessons) {
    const entry = planned.get(String(lesson.shown['id']))
    if (entry) found.set(lesson, entry)
  }
  const ordered = lessons.toSorted((one, other) => Number(one.shown['order']) - Number(other.shown['order']))
  // A saved plan omits entries of unchanged lessons, whose titles could be mistaken for those of others.
  const wanted = entries
    .filter(({ plannedId }) => plannedId === undefined)
    .map((entry) => ({ entry, ...keyedLesson(entry.record, entry.record['module'] ?? null) }))
  for (const [course, inCourse] of Map.groupBy(wanted, ({ entry }) => entry.record['courseId'])) {
    const current = ordered.filter((lesson) => lesson.course === course && !found.has(lesson))
    for (const [{ entry }, lesson] of matchLessons(inCourse, current)) found.set(lesson, entry)
  }
  return found
}

/** A lesson of a file with the existing one, null for a new lesson; or an existing one that the file does not have. */
type Pair<Wanted, Current> =
  | { readonly wanted: Wanted; readonly current: Current | null }
  | { readonly wanted: null; readonly current: Current }

/** Lesson in the final order of its course; `move` is undefined if it keeps its place. */
export type PlacedLesson<Wanted, Current> = Pair<Wanted, Current> & { readonly move: Move | undefined }

/** New place of a lesson. */
export interface Move {
  /** Value of `order` to send. */
  readonly number: number
  /** Places among the lessons of the course, from 1; 0 for a new lesson. */
  readonly from: number
  readonly to: number
}

/**
 * Returns all lessons in the final order of the course, as few of them with a new place as possible. They are to be
 * sent in this order. Lessons that the file does not have stay behind their predecessor.
 *
 * @param there lessons of the course in their order
 */
export function placeLessons<Wanted, Current extends { readonly shown: JsonObject }>(
  wanted: readonly Wanted[],
  there: readonly Current[],
  matched: ReadonlyMap<Wanted, Current>,
): PlacedLesson<Wanted, Current>[] {
  const inFile = new Map([...matched].map(([lesson, current]) => [current, lesson]))
  const sequence = wanted.map(
    (lesson): Pair<Wanted, Current> => ({ wanted: lesson, current: matched.get(lesson) ?? null }),
  )
  for (const [index, current] of there.entries()) {
    if (inFile.has(current)) continue
    const before = there[index - 1]
    const place = before ? sequence.findIndex((lesson) => lesson.current === before) + 1 : 0
    sequence.splice(place, 0, { wanted: null, current })
  }
  const now = new Map(there.map((lesson, index) => [lesson, index + 1]))
  const orders = sequence.map(({ current }) => {
    const order = current?.shown['order']
    return typeof order === 'number' ? order : undefined
  })
  const numbers = placesFor(orders)
  return sequence.map((lesson, index) => {
    const number = numbers[index]
    const from = (lesson.current && now.get(lesson.current)) ?? 0
    return { ...lesson, move: number === undefined ? undefined : { number, from, to: index + 1 } }
  })
}

/**
 * Returns the `order` to set on each thing so that the values increase, undefined for those that keep theirs: as few
 * as possible. They are set one after the other; as in the API, setting a taken place shifts that thing and the
 * following ones by one.
 *
 * @param orders current values, undefined for a new thing
 */
function placesFor(orders: readonly (number | undefined)[]): (number | undefined)[] {
  const there = orders.flatMap((order, index) => (order === undefined ? [] : [index]))
  const rising = longestRising(there.map((index) => orders[index] ?? 0))
  const kept = new Set(there.filter((_, index) => rising.has(index)))
  const now = [...orders]
  let taken = new Set(orders)
  let last = 0
  return orders.map((_, index) => {
    const place = now[index]
    if (kept.has(index) && place !== undefined) {
      last = place
      return undefined
    }
    last += 1
    now[index] = undefined
    if (taken.has(last) && now.includes(last)) {
      for (const [other, order] of now.entries())
        if (order !== undefined && order >= last) now[other] = order + 1
      taken = new Set(now)
    }
    now[index] = last
    taken.add(last)
    return last
  })
}

/** Returns the indexes of a longest increasing subsequence of distinct numbers. */
export function longestRising(numbers: readonly number[]): ReadonlySet<number> {
  // For each length, the index of the smallest number that ends such a subsequence; and the predecessor of each
  // number.
  const ends: number[] = []
  const before: (number | undefined)[] = []
  for (const [index, number] of numbers.entries()) {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((numbers[ends[middle] ?? 0] ?? 0) < number) low = middle + 1
      else high = middle
    }
    before.push(ends[low - 1])
    ends[low] = index
  }
  const part = new Set<number>()
  for (let at = ends.at(-1); at !== undefined; at = before[at]) part.add(at)
  return part
}
