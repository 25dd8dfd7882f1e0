import * as z from 'zod'
import { attentionKinds } from '../../contract/constants.ts'
import { sorting } from '../../contract/lists.ts'
import { progressStatuses } from '../../contract/progress.ts'
import { type LearnerFilter, learnerSorts } from '../analytics/course-learners.ts'
import { parseQuery } from '../http/validation.ts'
import type { SignedInRequest } from './call-api.ts'

const LearnerQuery = z.strictObject({
  status: z.enum(progressStatuses).optional(),
  attention: z.enum(attentionKinds).optional(),
  q: z.string().trim().max(200).optional(),
  /** Id of a group; empty for all learners. */
  group: z
    .string()
    .max(64)
    .transform((id) => id || undefined)
    .optional(),
  sort: sorting(learnerSorts, 'name'),
  cursor: z.string().optional(),
})

export type LearnerQuery = z.output<typeof LearnerQuery>

/** Throws 400 for an unknown filter or order. */
export function learnerQueryOf({ query }: SignedInRequest): LearnerQuery {
  const known = [...query].filter(([name]) => Object.hasOwn(LearnerQuery.shape, name))
  return parseQuery(LearnerQuery, `${new URLSearchParams(known)}`)
}

export function filterOf(
  courseId: string,
  { status, attention, q, group, sort }: LearnerQuery,
): LearnerFilter {
  return { courseId, status, attention, search: q || undefined, groupId: group, sort }
}
