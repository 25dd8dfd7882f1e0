import { ApiError, NotOfferedError } from '../../client/errors.ts'
import { shellWord } from '../../codec/display-text.ts'
import { isJsonObject } from '../../codec/json-text.ts'
import { calls } from '../../contract/calls.ts'
import { maximumPageSize } from '../../contract/constants.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Writer } from '../records/write.ts'
import { CommandError } from '../terminal/errors.ts'
import type { CoursePlan } from './course-plan.ts'

/** Maximum pages of deleted courses to search; beyond them the platform's own refusal reports the conflict. */
const maximumPages = 25

/**
 * Throws a CommandError if a course that a plan would create is in the trash and keeps its external id: the user
 * decides whether to restore it with its learner data or to delete it for good.
 */
export async function requireFree(
  { caller, signal }: Pick<Writer, 'caller' | 'signal'>,
  plans: readonly CoursePlan[],
): Promise<void> {
  const wanted = new Set(
    plans.flatMap(({ current, record: { externalId } }) =>
      current === null && typeof externalId === 'string' ? [externalId] : [],
    ),
  )
  if (wanted.size === 0) return
  let left = maximumPages
  try {
    const query = { limit: maximumPageSize }
    for await (const { data } of caller.pages<Operation>(calls.courses.listDeleted, { query, signal })) {
      for (const course of data.filter(isJsonObject)) {
        const { externalId } = course
        if (typeof externalId === 'string' && wanted.has(externalId)) throw deleted(externalId)
      }
      left -= 1
      if (left === 0) return
    }
  } catch (error) {
    // The platform may have no trash, or not show it to this user.
    if (error instanceof NotOfferedError || (error instanceof ApiError && [403, 404].includes(error.status)))
      return
    throw error
  }
}

function deleted(externalId: string): CommandError {
  const reference = shellWord(`ext:${externalId}`)
  return new CommandError(
    'duplicate',
    'conflict',
    `Course ${externalId} was deleted and keeps its external id; nothing was changed`,
    {
      why: [`To delete it for good: learnctl courses delete ${reference} --erase`],
      hint: `To restore it: learnctl courses restore ${reference}`,
    },
  )
}
