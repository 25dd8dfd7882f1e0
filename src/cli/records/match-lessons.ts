import type * as z from 'zod'
import { type JsonObject, jsonText } from '../../codec/json-text.ts'
import { LessonRecord } from '../dataset/lessons.ts'
import { withoutDefaults } from './without-defaults.ts'

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
