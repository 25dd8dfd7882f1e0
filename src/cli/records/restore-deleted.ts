import { ApiError } from '../../client/errors.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { calls } from '../../contract/calls.ts'
import { maxPageSize } from '../../contract/constants.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Dataset } from '../dataset/dataset.ts'
import { thingName } from '../operation/thing-name.ts'
import { restoreRecord, type Writer, write } from './write.ts'

/** Restores the deleted lessons of a course that have these external ids. Returns the number restored. */
export async function restoreLessons(
  { caller, signal }: Pick<Writer, 'caller' | 'signal'>,
  courseId: unknown,
  externalIds: Iterable<string>,
): Promise<number> {
  const ids = new Set(externalIds)
  if (ids.size === 0) return 0
  const query = { course_id: String(courseId), limit: maxPageSize }
  const deleted: string[] = []
  try {
    for await (const { data } of caller.pages<Operation>(calls.lessons.listDeleted, { query, signal })) {
      for (const lesson of data.filter(isJsonObject)) {
        const isOwn = lesson['courseId'] === courseId
        if (isOwn && ids.delete(String(lesson['externalId']))) deleted.push(String(lesson['id']))
      }
      if (ids.size === 0) break
    }
  } catch (error) {
    // The platform may have no trash.
    if (error instanceof ApiError && [403, 404].includes(error.status)) return 0
    throw error
  }
  for (const deletedLessonId of deleted) {
    await caller.call(calls.lessons.restoreDeleted, { params: { deletedLessonId }, signal })
  }
  return deleted.length
}

/**
 * Restores the record in the trash whose external id the platform refused to give to another, with all that was deleted
 * with it; an archived course is published, so that it can be changed. Returns it as the API shows it; null if the error is
 * another one, and for a lesson of another course.
 */
export async function restoreTaken(
  writer: Writer,
  dataset: Dataset,
  record: JsonObject,
  error: unknown,
): Promise<JsonObject | null> {
  const taken = takenIn(error)
  const { get, update, restore, params } = dataset.operations
  if (!taken?.isDeleted || !restore || !get) return null
  const { caller, names, notes, signal } = writer
  if (dataset.name === 'lessons') {
    const course = await names.course(String(record['courseId']))
    const count = await restoreLessons(writer, course?.['id'], [String(record['externalId'])])
    if (count === 0) return null
  } else await restoreRecord(writer, dataset, taken)
  const shownNow = async () =>
    (await caller.call<Operation>(get, { params: params({ ...taken }), signal })).data
  let shown = await shownNow()
  if (!isJsonObject(shown)) return null
  notes.add(`Restored from the trash: ${dataset.noun} ${thingName(shown)}`)
  if (update && shown['status'] === 'archived') {
    await write(writer, update, { params: params(shown), body: { status: 'published' } })
    shown = await shownNow()
  }
  return isJsonObject(shown) ? shown : null
}

/** Returns the record that has a name which was refused to another; null for another error. */
export function takenIn(error: unknown): { readonly id: string; readonly isDeleted: boolean } | null {
  if (!(error instanceof ApiError) || error.code !== 'duplicate') return null
  const { id, existingStatus } = error.problem ?? {}
  return typeof id === 'string' ? { id, isDeleted: existingStatus === 'deleted' } : null
}
