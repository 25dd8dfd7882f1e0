import { findNearest } from '../../codec/nearest.ts'
import { type LmsKind, lmsKinds } from '../../contract/constants.ts'
import { notFoundDetail, ProblemError } from '../problem-error.ts'

/** Returns the kind in a path; throws 404 that lists the kinds. */
export function requireKind(kind: string): LmsKind {
  const known = lmsKinds.find((each) => each === kind)
  if (known) return known
  const others = lmsKinds.slice(0, -1).join(', ')
  const meant = findNearest(kind, lmsKinds)
  throw new ProblemError(
    'not_found',
    `${notFoundDetail('LMS kind', kind)} It must be ${others} or ${lmsKinds.at(-1)}.${meant.length > 0 ? ` Did you mean ${meant.join(' or ')}?` : ''}`,
  )
}

/** Returns the absolute path that a system of this kind sends its events to. */
export function webhookPathOf(kind: LmsKind): `/${string}` {
  return `/webhooks/${kind}/grades`
}
