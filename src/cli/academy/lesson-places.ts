import { isJsonObject, type JsonObject } from '../../codec/json-object.ts'
import { listOfOne } from '../../codec/reference-list.ts'
import { calls } from '../../contract/calls.ts'
import type { Operation } from '../../contract/operation.ts'
import { keyIn } from './entry.ts'
import type { LessonPlace } from './plan.ts'
import type { Reader } from './reader.ts'

/**
 * Puts lessons in the places that are declared: writing one moves those behind it. In rising order each stays where it was
 * put.
 */
export async function settleLessons(
  { caller, signal }: Reader,
  places: ReadonlyMap<string, readonly LessonPlace[]>,
): Promise<void> {
  const { list, update } = calls.lessons
  for (const [courseId, declared] of places) {
    const there = new Map<string, JsonObject>()
    const query = { course_id: listOfOne(courseId), limit: 100 }
    for await (const { data } of caller.pages<Operation>(list, { query, signal })) {
      for (const shown of data) {
        if (!isJsonObject(shown)) continue
        const { id, title, externalId } = shown
        const titled = typeof externalId === 'string' ? null : keyIn('lessons', { courseId, title })
        const names = [titled, `ext:${externalId ?? id}`]
        for (const name of names) if (name !== null) there.set(name, shown)
      }
    }
    const meant = declared.flatMap(({ key, order }) => {
      const shown = there.get(key)
      return shown ? [{ id: String(shown['id']), order, settled: shown['order'] === order }] : []
    })
    if (meant.every(({ settled }) => settled)) continue
    for (const { id, order } of meant.toSorted((one, other) => one.order - other.order)) {
      await caller.call<Operation>(update, { params: { lessonId: id }, body: { order }, signal })
    }
  }
}
