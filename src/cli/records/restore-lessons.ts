import { ApiError } from '../../client/errors.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { calls } from '../../contract/calls.ts'
import { maxPageSize } from '../../contract/constants.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Dataset } from '../dataset/dataset.ts'
import { findShown } from '../dataset/find.ts'
import type { Writer } from './write.ts'

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
 * Restores the deleted lesson with a record's external id, after the platform refused to create another. Returns it
 * as the API shows it; null if there is none.
 */
export async function restoreLesson(
  { caller, names, signal }: Writer,
  dataset: Dataset,
  record: JsonObject,
  error: unknown,
): Promise<JsonObject | null> {
  const { courseId, externalId } = record
  const isTaken = error instanceof ApiError && error.status === 409
  if (dataset.name !== 'lessons' || typeof externalId !== 'string' || !isTaken) return null
  const course = await names.course(String(courseId))
  const restored = course ? await restoreLessons({ caller, signal }, course['id'], [externalId]) : 0
  return restored === 0 ? null : findShown(caller, dataset, record, signal)
}
