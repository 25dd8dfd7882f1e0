import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { moduleNamed, moduleNames } from '../dataset/module-names.ts'
import { withoutDefaults } from '../records/without-defaults.ts'
import { CourseDocument } from './course-document.ts'
import { inSequence, told } from './lesson-sequence.ts'

/** A course with its lessons, as the records of the datasets `courses` and `lessons`. */
export interface CourseRecords {
  readonly course: JsonObject
  /** Lessons in order; their `order` counts from 1. */
  readonly lessons: readonly JsonObject[]
}

/** Returns the records of a parsed document; a course without a status has none. */
export function recordsOf({ modules, lessons, ...attributes }: CourseDocument): CourseRecords {
  const names = moduleNames(modules)
  const entries = [
    ...modules.flatMap((module, index) => module.lessons.map((entry) => ({ entry, module: names[index] }))),
    ...lessons.map((entry) => ({ entry, module: null })),
  ]
  const course = { ...attributes, modules: modules.map(({ lessons: _, ...module }) => module) }
  return {
    course,
    lessons: inSequence(entries, ({ entry }) => entry.order).map(({ entry, module }, index) => ({
      ...entry,
      courseId: `ext:${course.externalId}`,
      module,
      order: index + 1,
    })),
  }
}

/**
 * Returns the document of a course, without defaults; a lesson has an `order` only if its place in the file does not
 * imply it. Reading the document returns the same records, with lessons numbered from 1.
 */
export function documentOf({ course, lessons }: CourseRecords): JsonObject {
  const modules = Array.isArray(course['modules']) ? course['modules'].filter(isJsonObject) : []
  const ordered = lessons.toSorted((one, other) => Number(one['order']) - Number(other['order']))
  const places = new Map<unknown, number | null>([[null, null]])
  const placed = ordered.map((lesson, rank) => ({ lesson, rank, place: placeIn(lesson) }))
  const inModule = Map.groupBy(placed, ({ place }) => place)
  const groups = modules.map((_, index) => inModule.get(index) ?? [])
  const beside = inModule.get(null) ?? []
  const file = [...groups.flat(), ...beside]
  const numbers = told(file.map(({ rank }) => rank))
  const orders = new Map(file.map(({ lesson }, index) => [lesson, numbers[index]]))
  const entry = ({ lesson }: (typeof placed)[number]) => ({ ...lesson, order: orders.get(lesson) })
  const document = {
    ...course,
    modules: modules.map((module, index) => ({ ...module, lessons: groups[index]?.map(entry) ?? [] })),
    lessons: beside.map(entry),
  }
  return withoutDefaults(CourseDocument, document) as JsonObject

  function placeIn({ module = null }: JsonObject): number | null {
    if (!places.has(module)) {
      const place = moduleNamed(modules, String(module))
      places.set(module, place === null || place < 0 ? null : place)
    }
    return places.get(module) ?? null
  }
}
