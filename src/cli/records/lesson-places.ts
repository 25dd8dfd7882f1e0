import type { Entry } from './entries.ts'
import { type KnownIds, keyIn } from './identity.ts'
import type { Action, LessonPlace, Plan } from './plan.ts'

export function declaredPlaces(lessons: readonly Entry[], ids: KnownIds): Plan['lessonPlaces'] {
  const places = lessons.flatMap(({ key, record }): (LessonPlace & { readonly course: string })[] => {
    const { courseId, order } = record
    if (typeof order !== 'number') return []
    const id = ids.idOf('lessons', key)
    return [{ course: String(courseId), key: keyIn('lessons', record) ?? key, order, id }]
  })
  return Map.groupBy(places, ({ course }) => course)
}

/** Returns the places of all lessons of courses where one is created or moved, since that shifts the others. */
export function touchedPlaces(
  actions: readonly Action[],
  lessons: readonly Entry[],
  ids: KnownIds,
): Plan['lessonPlaces'] {
  const touched = actions.filter(
    ({ dataset, kind, changes }) =>
      dataset === 'lessons' &&
      (kind === 'create' || changes.some(({ field }) => ['order', 'courseId'].includes(field))),
  )
  const courses = new Set(touched.map(({ entry }) => String(entry?.record['courseId'])))
  return new Map([...declaredPlaces(lessons, ids)].filter(([course]) => courses.has(course)))
}
