import { ApiError, NotOfferedError } from '../../client/errors.ts'
import { isJsonObject } from '../../codec/json-object.ts'
import { calls } from '../../contract/calls.ts'
import type { Operation } from '../../contract/operation.ts'
import { maximumPageSize } from '../../contract/page-size.ts'
import type { Carrying } from './carry-out.ts'
import type { CoursePlan } from './course-plan.ts'

/**
 * Restores the lessons of a course that a plan would create while they are deleted but keep their external id, so that
 * they can be changed in place of that. Returns how many; the plan has to be made anew then.
 */
export async function restoreLessons(
  { caller, signal }: Pick<Carrying, 'caller' | 'signal'>,
  { current, steps }: CoursePlan,
): Promise<number> {
  const ids = new Set(
    steps.flatMap(({ action, record: { externalId } }) =>
      action === 'create' && typeof externalId === 'string' ? [externalId] : [],
    ),
  )
  // An archived course is closed, also to what was deleted.
  if (current === null || current['status'] === 'archived' || ids.size === 0) return 0
  const query = { course_id: String(current['id']), limit: maximumPageSize }
  const deleted: string[] = []
  try {
    for await (const { data } of caller.pages<Operation>(calls.lessons.listDeleted, { query, signal })) {
      for (const lesson of data.filter(isJsonObject)) {
        const { id, externalId, courseId } = lesson
        if (courseId === current['id'] && ids.delete(String(externalId))) deleted.push(String(id))
      }
      if (ids.size === 0) break
    }
  } catch (error) {
    // Not every platform keeps what is deleted.
    if (error instanceof NotOfferedError || (error instanceof ApiError && [403, 404].includes(error.status)))
      return 0
    throw error
  }
  for (const deletedLessonId of deleted) {
    await caller.call(calls.lessons.restoreDeleted, { params: { deletedLessonId }, signal })
  }
  return deleted.length
}
