import type { AuditEntry } from '../../contract/audit.ts'
import { courses } from '../../contract/courses.ts'
import { endpoints } from '../../contract/endpoints.ts'
import { grades } from '../../contract/grades.ts'
import { integrations } from '../../contract/integrations.ts'
import { users } from '../../contract/users.ts'
import { courseReadRoutes } from '../courses/courses.ts'
import { gradeRoutes } from '../grades/grades.ts'
import { integrationRoutes } from '../integrations/integrations.ts'
import { ProblemError } from '../problem/problem-error.ts'
import { userRoutes } from '../users/users.ts'
import { endpointRoutes } from '../webhooks/outbox/endpoints.ts'
import { ask, type SignedInRequest } from './signed-in-request.ts'

/** The pages about things that entries tell of, by the noun: where they are, and what throws 404 where a thing is gone. */
const pages: Readonly<
  Record<string, { place: string; find: (signedIn: SignedInRequest, id: string) => Promise<unknown> }>
> = {
  course: {
    place: 'courses',
    find: (signedIn, courseId) => ask(signedIn, courseReadRoutes, courses.get, { params: { courseId } }),
  },
  user: {
    place: 'learners',
    find: (signedIn, userId) => ask(signedIn, userRoutes, users.get, { params: { userId } }),
  },
  grade: {
    place: 'grades',
    find: (signedIn, gradeId) => ask(signedIn, gradeRoutes, grades.get, { params: { gradeId } }),
  },
  endpoint: {
    place: 'endpoints',
    find: (signedIn, endpointId) => ask(signedIn, endpointRoutes, endpoints.get, { params: { endpointId } }),
  },
  integration: {
    place: 'integrations',
    find: (signedIn, lmsKind) => ask(signedIn, integrationRoutes, integrations.get, { params: { lmsKind } }),
  },
}

/** The page about what an entry tells of; undefined where there is none, or where it is gone. */
export async function subjectPage(
  signedIn: SignedInRequest,
  { noun, subjectId }: AuditEntry,
): Promise<string | undefined> {
  const page = pages[noun]
  if (!page || subjectId === null) return undefined
  try {
    await page.find(signedIn, subjectId)
    return `${signedIn.base}/dashboard/${page.place}/${encodeURIComponent(subjectId)}`
  } catch (error) {
    if (error instanceof ProblemError && error.status === 404) return undefined
    throw error
  }
}

/** The ways from an entry to others: those about the same thing, by the same user, with the same credential. */
export function otherEntries(
  { base }: SignedInRequest,
  { subjectId, userId, credential }: AuditEntry,
): readonly (readonly [href: string, words: string])[] {
  const ways = [
    ['subject', subjectId, 'All entries about this subject'],
    ['user', userId, 'All entries by this user'],
    ['credential', credential, 'All entries with this credential'],
  ] as const
  return ways.flatMap(([name, value, words]) =>
    value === null
      ? []
      : [[`${base}/dashboard/audit?${new URLSearchParams({ [name]: value })}`, words] as const],
  )
}
