import type * as z from 'zod'
import type { JsonObject } from '../../codec/json-object.ts'
import { jsonText } from '../../codec/json-text.ts'
import { LessonRecord } from '../dataset/lessons.ts'
import { withoutDefaults } from './without-defaults.ts'

/** A lesson without what has its default, and what tells its module; undefined for a module still to be made. */
export interface KeyedLesson {
  readonly record: JsonObject
  readonly moduleId: unknown
}

/** The fields of a lesson, but for its place. */
export const LessonAttributes = LessonRecord.omit({ courseId: true, module: true, order: true })

/** A lesson without its place. */
export function attributesOf({
  courseId: _course,
  module: _module,
  order: _order,
  ...fields
}: JsonObject): JsonObject {
  return fields
}

/** A lesson to match. */
export function keyedLesson(record: JsonObject, moduleId: unknown): KeyedLesson {
  return { record: canonical(LessonAttributes, attributesOf(record)), moduleId }
}

/** A record as its schema would have it, without what has its default. */
export function canonical(schema: z.ZodObject, record: JsonObject): JsonObject {
  const parsed = schema.safeParse(record)
  // An object with fields in, one out.
  return withoutDefaults(schema, parsed.success ? parsed.data : record) as JsonObject
}

/** By what a lesson of a file is found among those that are there, the surest first. */
const keys: readonly ((lesson: KeyedLesson) => string | null)[] = [
  ({ record }) => (typeof record['externalId'] === 'string' ? record['externalId'] : null),
  ({ record, moduleId }) => jsonText([record['title'], moduleId === undefined ? '' : moduleId]),
  ({ record }) => String(record['title']),
  // Under a new title, but otherwise the same.
  ({ record: { title: _title, externalId: _externalId, managedBy: _label, ...content } }) =>
    content['contentBlocks'] || content['assessments'] || content['description'] ? jsonText(content) : null,
]

/**
 * Finds which lesson of a course each lesson of a file is: the one with its external id, else with its title, first in the same
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
