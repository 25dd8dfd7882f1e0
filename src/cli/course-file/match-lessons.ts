import type { JsonObject } from '../../codec/json-object.ts'
import { jsonText } from '../../codec/json-text.ts'

/** A lesson as a record without what has its default, and the id of its module; undefined for a module still to be made. */
export interface KeyedLesson {
  readonly record: JsonObject
  readonly moduleId: unknown
}

/** By what a lesson of a file is found among those that are there, the surest first. */
const keys: readonly ((lesson: KeyedLesson) => string | null)[] = [
  ({ record }) => (typeof record['externalId'] === 'string' ? record['externalId'] : null),
  ({ record, moduleId }) => jsonText([record['title'], moduleId === undefined ? '' : moduleId]),
  ({ record }) => String(record['title']),
  // Under a new title, but otherwise the same.
  ({ record: { title: _title, externalId: _externalId, order: _order, ...content } }) =>
    content['contentBlocks'] || content['assessments'] || content['description']
      ? jsonText({ ...content, module: undefined })
      : null,
]

/**
 * Which lesson of a course each lesson of a file is: the one with its external id, else with its title, first in the same
 * module, else with the same content. Lessons with different external ids are never the same; each is taken once.
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
