import { type Action, nounOf } from '../../contract/actions.ts'
import type { Course } from '../../contract/courses.ts'
import type { Enrollment } from '../../contract/enrollments.ts'
import type { User } from '../../contract/users.ts'
import {
  countCourse,
  countPassingScore,
  countStandings,
  type StandingChange,
  uncountCourse,
} from '../counters/count.ts'
import { type CountedEnrollment, newStanding, readUserEnrollments } from '../counters/counted-enrollment.ts'
import { appendEntry, isDifferent } from './audit-entry.ts'
import { countAction } from './bulk-change.ts'
import { enqueue } from './event-queue.ts'
import { rowChangeOf, storeRowChanges } from './row-changes.ts'
import type { Writing } from './writing.ts'

/** A change of one record: the action, and the record as the API shows it before and after; null where there is none. */
export interface Change {
  readonly action: Action
  readonly id: string
  readonly before: object | null
  readonly after: object | null
  /** The fields that differ, where that is known; where two actions tell of one update, those of this one. */
  readonly fields?: readonly string[]
}

/**
 * Records a change in the transaction that makes it, after its statements: counters, events, the audit log and the feed of changed
 * rows follow from the record before and after. The deletion of a course is recorded before its rows go. Secrets are left out.
 */
export async function recordChange(call: Writing, change: Change): Promise<void> {
  await countChange(call, change)
  storeRowChanges(call, rowChangeOf(change))
  await publishChange(call, change)
}

/**
 * Records an update: a new status by the action of that status, all other fields as `updated`; nothing where nothing
 * changed.
 */
export async function recordUpdate<Thing extends { readonly id: string; readonly status?: string }>(
  call: Writing,
  noun: 'course' | 'lesson' | 'user' | 'term' | 'enrollment' | 'group',
  before: Thing,
  after: Thing,
  byStatus?: Action,
): Promise<void> {
  const changed = Object.keys(after).filter((field) =>
    isDifferent(before[field as keyof Thing], after[field as keyof Thing]),
  )
  const isMoved = byStatus !== undefined && before.status !== after.status
  const moved = isMoved ? changed.filter((field) => statusFields.includes(field)) : []
  const others = changed.filter((field) => !moved.includes(field))
  const isUpdated = others.some((field) => field !== 'version' && field !== 'updatedAt')
  const both = { id: after.id, before, after }
  await countChange(call, { action: `${noun}.updated`, ...both })
  if (isUpdated || isMoved) storeRowChanges(call, rowChangeOf({ action: `${noun}.updated`, ...both }))
  if (isUpdated) await publishChange(call, { action: `${noun}.updated`, ...both, fields: others })
  if (isMoved) await publishChange(call, { action: byStatus, ...both, fields: isUpdated ? moved : changed })
}

/** Fields that change with a status. */
const statusFields = ['status', 'publishedAt', 'archivedAt', 'completedAt']

/**
 * Records changes of progress and grades, and of enrolments that follow from these: all together change how learners stand in
 * courses, which is counted once.
 */
export async function recordLearning(
  call: Writing,
  changes: readonly Change[],
  standings: readonly StandingChange[],
): Promise<void> {
  await countStandings(call, standings)
  storeRowChanges(call, changes.flatMap(rowChangeOf))
  for (const change of changes) await publishChange(call, change)
}

async function publishChange(call: Writing, change: Change): Promise<void> {
  await enqueue(call, change)
  if (call.change) countAction(call.change, change.action)
  // Progress has a history of its own.
  if (nounOf(change.action) === 'progress') return
  // The audit log keeps nothing of an erased user.
  await appendEntry(call, change.action === 'user.erased' ? { ...change, before: null } : change)
}

/** Counts a change of a course, a user or an enrolment; no other record changes a counter by itself. */
async function countChange(call: Writing, { action, id, before, after }: Change): Promise<void> {
  // The records of an action have the type of its noun.
  switch (nounOf(action)) {
    case 'course':
      if (action === 'course.restored') return countCourse(call, id)
      return countCourseChange(call, before as Course | null, after as Course | null)
    case 'enrollment':
      return countEnrollmentChange(call, before as Enrollment | null, after as Enrollment | null)
    case 'user':
      return countUserChange(call, before as User | null, after as User | null)
    default:
  }
}

async function countCourseChange(call: Writing, before: Course | null, after: Course | null): Promise<void> {
  if (!before) return
  if (!after) return uncountCourse(call, before.id)
  const [from, to] = [before.assessmentCriteria.passingScore, after.assessmentCriteria.passingScore]
  await countPassingScore(call, after.id, from, to)
}

async function countEnrollmentChange(
  call: Writing,
  before: Enrollment | null,
  after: Enrollment | null,
): Promise<void> {
  if (after?.role !== 'learner') return
  if (before?.status === after.status && before.enrolledAt === after.enrolledAt) return
  const standing = before
    ? (await readUserEnrollments(call.database, after.userId, after.courseId))[0]
    : await newStanding(call.database, after)
  if (!standing) return
  await countStandings(call, [
    { before: standingWith(standing, before), after: standingWith(standing, after) },
  ])
}

/** A standing with one state of its enrolment. */
function standingWith(
  standing: CountedEnrollment,
  enrollment: Enrollment | null,
): CountedEnrollment | undefined {
  if (!enrollment) return undefined
  const { status, enrolledAt } = enrollment
  const lastSeen = standing.status === 'none' ? enrolledAt : standing.lastSeen
  return { ...standing, enrollment: status, lastSeen }
}

/** A deleted user is taken out of the counters of their courses, a restored one put back. */
async function countUserChange(call: Writing, before: User | null, after: User | null): Promise<void> {
  const wasDeleted = before?.status === 'deleted'
  if (!before || wasDeleted === (after?.status === 'deleted')) return
  const standings = await readUserEnrollments(call.database, before.id)
  const changes = standings.map((standing) => ({
    before: { ...standing, isUserDeleted: wasDeleted },
    after: standing,
  }))
  await countStandings(call, changes)
}
