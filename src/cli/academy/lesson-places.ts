import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { escapeReference } from '../../codec/reference.ts'
import { calls } from '../../contract/calls.ts'
import type { Operation } from '../../contract/operation.ts'
import { externalKeyOf, recordPages } from '../dataset/shown-records.ts'
import { keyIn } from '../records/identity.ts'
import { loadPart } from './load-part.ts'
import type { LessonPlace } from './plan.ts'
import type { Reader } from './reader.ts'

/**
 * Moves lessons to their declared places. Writing one shifts the lessons behind it, so lessons are written in
 * ascending order.
 */
export async function settleLessons(
  { caller, names, notes, signal }: Reader,
  places: ReadonlyMap<string, readonly LessonPlace[]>,
): Promise<void> {
  const { list, update } = calls.lessons
  const { toRecord } = await loadPart('lessons')
  for (const [courseId, declared] of places) {
    const known = new Set(declared.map(({ id }) => id))
    const byId = new Map<string, JsonObject>()
    /** Created lessons by key; equal lessons in their order. */
    const made = new Map<string, JsonObject[]>()
    const query = { course_id: escapeReference(courseId), limit: 100 }
    const pages = caller.pages<Operation>(list, { query, signal })
    for await (const { data } of recordPages(caller, list, pages)) {
      for (const shown of data) {
        if (!isJsonObject(shown)) continue
        const { id, title, externalId } = shown
        byId.set(String(id), shown)
        if (known.has(String(id))) continue
        const { module } = await toRecord(shown, names)
        const titled = typeof externalId === 'string' ? null : keyIn('lessons', { courseId, module, title })
        for (const name of [titled, `ext:${externalKeyOf(shown)}`]) {
          if (name !== null) made.set(name, [...(made.get(name) ?? []), shown])
        }
      }
    }
    for (const equals of made.values())
      equals.sort((one, other) => Number(one['order']) - Number(other['order']))
    const meant = declared.flatMap(({ id, key, order }) => {
      const shown = id === undefined ? made.get(key)?.shift() : byId.get(id)
      return shown ? [{ id: String(shown['id']), order, settled: shown['order'] === order }] : []
    })
    if (meant.every(({ settled }) => settled)) continue
    for (const { id, order } of meant.toSorted((one, other) => one.order - other.order)) {
      const input = { params: { lessonId: id }, body: { order }, signal }
      notes.take((await caller.call<Operation>(update, input)).written)
    }
  }
}
