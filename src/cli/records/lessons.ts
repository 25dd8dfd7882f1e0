import type * as z from 'zod'
import { type JsonObject, jsonText } from '../../codec/json-text.ts'
import { LessonRecord } from '../dataset/courses.ts'
import { withoutDefaults } from './compare.ts'
import type { Entry } from './entries.ts'

/** A lesson that no entry matches by key. */
export interface ShownLesson {
  /** As the API shows it. */
  readonly shown: JsonObject
  /** In the form of files; its module has the name that it gets by the file. */
  readonly record: JsonObject
  readonly course: string
}

/**
 * Matches lessons that no entry matches by key: by external id, by title, first in the same module, or by content. Lessons with different external ids never match; each is matched at most once.
 */
export function lessonsMatched(
  entries: readonly Entry[],
  lessons: readonly ShownLesson[],
): ReadonlyMap<ShownLesson, Entry> {
  if (lessons.length === 0) return new Map()
  const found = new Map<ShownLesson, Entry>()
  const ordered = lessons.toSorted((one, other) => Number(one.shown['order']) - Number(other.shown['order']))
  const current = ordered.map((lesson) => ({ lesson, ...keyed(lesson.record) }))
  const wanted = entries.map((entry) => ({ entry, ...keyed(entry.record) }))
  for (const [course, inCourse] of Map.groupBy(wanted, ({ entry }) => entry.record['courseId'])) {
    const free = current.filter(({ lesson }) => lesson.course === course)
    for (const [{ entry }, { lesson }] of matchLessons(inCourse, free)) found.set(lesson, entry)
  }
  return found
}

interface KeyedLesson {
  readonly record: JsonObject
  readonly module: unknown
}

function keyed(record: JsonObject): KeyedLesson {
  return { record: canonical(LessonAttributes, attributesOf(record)), module: record['module'] ?? null }
}

/** Keys that match lessons of a file with existing ones, the most specific first. */
const keys: readonly ((lesson: KeyedLesson) => string | null)[] = [
  ({ record }) => (typeof record['externalId'] === 'string' ? record['externalId'] : null),
  ({ record, module }) => jsonText([record['title'], module]),
  ({ record }) => String(record['title']),
  // The same content under a new title.
  ({ record: { title: _title, externalId: _externalId, managedBy: _label, ...content } }) =>
    content['contentBlocks'] || content['assessments'] || content['description'] ? jsonText(content) : null,
]

function matchLessons<Wanted extends KeyedLesson, Current extends KeyedLesson>(
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

export const LessonAttributes = LessonRecord.omit({ courseId: true, module: true, order: true })

export function attributesOf({
  courseId: _course,
  module: _module,
  order: _order,
  ...fields
}: JsonObject): JsonObject {
  return fields
}

export function canonical(schema: z.ZodObject, record: JsonObject): JsonObject {
  const parsed = schema.safeParse(record)
  // The result of an object is an object.
  return withoutDefaults(schema, parsed.success ? parsed.data : record) as JsonObject
}
