import type { JsonObject } from '../../codec/json-text.ts'
import { escapeReference } from '../../codec/reference.ts'
import { type Entry, loadPart } from './entries.ts'
import { shownIn } from './finder.ts'
import { type KnownIds, keyIn } from './identity.ts'
import { type Move, placeLessons } from './lessons.ts'
import type { Action, LessonPlace, Plan } from './plan.ts'
import type { Step } from './step.ts'
import type { Writer } from './write.ts'

/** Returns the declared places of lessons, by the keys of their courses. */
export function declaredPlaces(lessons: readonly Entry[], ids: KnownIds): Plan['lessonPlaces'] {
  const places = lessons.flatMap(({ key, record }): (LessonPlace & { readonly course: string })[] => {
    const { courseId, order } = record
    if (typeof order !== 'number') return []
    const id = ids.idOf('lessons', key)
    return [{ course: String(courseId), key: keyIn('lessons', record) ?? key, order, id }]
  })
  return Map.groupBy(places, ({ course }) => course)
}

/** Returns the existing lessons of a course that have to move, in the order of sending; as few as possible. */
export function movesIn(
  places: readonly LessonPlace[],
  lessons: readonly JsonObject[],
): (Move & { readonly id: string; readonly shown: JsonObject })[] {
  const there = lessons
    .map((shown) => ({ id: String(shown['id']), shown }))
    .sort((one, other) => Number(one.shown['order']) - Number(other.shown['order']))
  const byId = new Map(there.map((lesson) => [lesson.id, lesson]))
  const matched = new Map(
    places.flatMap((place) => {
      const lesson = byId.get(place.id ?? '')
      return lesson ? [[place, lesson]] : []
    }),
  )
  const wanted = places.toSorted((one, other) => one.order - other.order)
  return placeLessons(wanted, there, matched).flatMap(({ current, move }) =>
    current && move ? [{ ...current, ...move }] : [],
  )
}

/**
 * Returns the steps that move the lessons of a plan to their places, after they have been written. Lessons that are
 * not declared stay behind their predecessor.
 *
 * @param missing keys of courses that could not be created
 */
export async function moveSteps(
  writer: Writer,
  plan: Plan,
  missing: ReadonlySet<string>,
): Promise<Step<Action>[]> {
  const dataset = await loadPart('lessons')
  const actions = plan.actions.filter(({ dataset }) => dataset === 'lessons')
  const steps: Step<Action>[] = []
  for (const [course, places] of plan.lessonPlaces) {
    if (missing.has(course)) continue
    const known = new Set(places.map(({ id }) => id))
    const lessons = new Map<string, JsonObject>()
    /** Ids of new lessons by key; equal lessons in their order. */
    const made = new Map<string | null, string[]>()
    const query = { course_id: escapeReference(course), sort: 'order' }
    for await (const shown of shownIn(writer, dataset, query)) {
      const id = String(shown['id'])
      // A platform may list a record twice.
      const isNew = !known.has(id) && !lessons.has(id)
      lessons.set(id, shown)
      if (!isNew) continue
      const { externalId } = shown
      const record = { ...(await dataset.toRecord(shown, writer.names)), courseId: course, externalId }
      const key = keyIn('lessons', record)
      made.set(key, [...(made.get(key) ?? []), id])
    }
    const found = places.map((place) => ({ ...place, id: place.id ?? made.get(place.key)?.shift() }))
    const there = found.filter(({ id }) => lessons.has(id ?? ''))
    for (const { id, shown, number } of movesIn(there, [...lessons.values()])) {
      const key = there.find((place) => place.id === id)?.key ?? id
      const own = actions.find(({ current, ...action }) =>
        current ? current['id'] === id : action.key === key,
      )
      const other = {
        dataset: 'lessons',
        kind: 'update',
        key,
        entry: null,
        current: shown,
        changes: [],
      } as const
      const record = { order: number }
      steps.push({ deed: 'patch', dataset, from: own ?? other, record, current: shown, lanes: [course] })
    }
  }
  return steps
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
