import * as z from 'zod'
import { sorting } from '../../contract/page.ts'
import { progressStatuses } from '../../contract/progress.ts'
import { attentionKinds } from '../analytics/attention.ts'
import { type LearnerFilter, learnerSorts } from '../analytics/course-learners.ts'
import { parseQuery } from '../http/validation.ts'
import type { SignedInRequest } from './signed-in-request.ts'

const LearnerQuery = z.strictObject({
  status: z.enum(progressStatuses).optional(),
  attention: z.enum(attentionKinds).optional(),
  q: z.string().trim().max(200).optional(),
  sort: sorting(learnerSorts, 'name'),
  page: z.coerce.number().int().min(1).max(1_000_000).default(1),
})

/** The query of a course's page about its table of learners. */
export type LearnerQuery = z.output<typeof LearnerQuery>

/** Parses the query of a URL; throws 400 for an unknown filter, order or page. */
export function learnerQueryOf({ query }: SignedInRequest): LearnerQuery {
  const known = [...query].filter(([name]) => Object.hasOwn(LearnerQuery.shape, name))
  return parseQuery(LearnerQuery, `${new URLSearchParams(known)}`)
}

/** Returns the filter of a query for the statements behind it. */
export function filterOf(courseId: string, { status, attention, q, sort }: LearnerQuery): LearnerFilter {
  return { courseId, status, attention, search: q || undefined, sort }
}

/** Returns the query string for these learners, with `?`; defaults are left out. */
export function searchOf({ status, attention, q, sort, page }: Partial<LearnerQuery>): string {
  const given = {
    status,
    attention,
    q: q || undefined,
    sort: sort === 'name' ? undefined : sort,
    page: page === 1 ? undefined : page,
  }
  const entries = Object.entries(given).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  )
  return entries.length === 0 ? '' : `?${new URLSearchParams(entries)}`
}
