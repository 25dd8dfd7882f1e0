import type { JsonObject } from '../../codec/json-object.ts'
import { type Entry, keyAmongEquals, keyIn } from './entry.ts'

/** A lesson without an external id, as the API shows it. */
export interface UnnamedLesson {
  readonly shown: JsonObject
  /** The key of its course. */
  readonly course: string
  /** Name of its module in files; null without a module. */
  readonly module: unknown
}

/**
 * Finds the entries of lessons that have no external id: by module, title and the place among equals in the order of the
 * course, else, where the lesson is in another module, by the title alone.
 */
export function matchUnnamed(
  entries: readonly Entry[],
  lessons: readonly UnnamedLesson[],
): ReadonlyMap<UnnamedLesson, Entry> {
  const found = new Map<UnnamedLesson, Entry>()
  const ordered = lessons.toSorted((one, other) => Number(one.shown['order']) - Number(other.shown['order']))
  const free = new Map(
    entries.filter(({ record }) => record['externalId'] === undefined).map((entry) => [entry.key, entry]),
  )
  const planned = new Map([...free.values()].map((entry) => [entry.plannedId, entry]))
  const counts = new Map<string, number>()
  for (const lesson of ordered) {
    const key = keyOfUnnamed(lesson)
    const place = (counts.get(key) ?? 0) + 1
    counts.set(key, place)
    const { id } = lesson.shown
    take(lesson, planned.get(String(id)) ?? free.get(keyAmongEquals(key, place)))
  }
  // A saved plan lacks the entries of lessons that stay as they are, whose titles would be taken for those of others.
  const unplanned = [...free.values()].filter(({ plannedId }) => plannedId === undefined)
  const titled = Map.groupBy(unplanned, ({ record }) => titleIn(record['courseId'], record['title']))
  for (const lesson of ordered) {
    if (!found.has(lesson)) take(lesson, titled.get(titleIn(lesson.course, lesson.shown['title']))?.shift())
  }
  return found

  function take(lesson: UnnamedLesson, entry: Entry | undefined): void {
    if (!entry) return
    found.set(lesson, entry)
    free.delete(entry.key)
  }
}

/** The key of a lesson without an external id, but for its place among equals. */
export function keyOfUnnamed({ course, module, shown }: UnnamedLesson): string {
  return keyIn('lessons', { courseId: course, module, title: shown['title'] }) ?? ''
}

function titleIn(course: unknown, title: unknown): string {
  return keyIn('lessons', { courseId: course, title }) ?? ''
}
