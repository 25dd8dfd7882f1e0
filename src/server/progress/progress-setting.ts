import sql from 'sql-template-tag'
import type { Course } from '../../contract/courses.ts'
import type { Progress, ProgressInput } from '../../contract/progress.ts'
import type { User } from '../../contract/users.ts'
import { visibleCourses } from '../access/sight.ts'
import { type Change, recordLearning } from '../changes/change.ts'
import type { Writing } from '../changes/writing.ts'
import { type CourseRow, courseColumns, requireOpen, toCourse } from '../courses/course-row.ts'
import { matchesReference, resolve } from '../database/reference.ts'
import { type Call, isRole } from '../http/handler.ts'
import { invalid, ProblemError, parentNotFound } from '../problem-error.ts'
import { completeEnrollment, firstEnrollment } from './enrollment-row.ts'
import {
  findState,
  type LearnerState,
  type ProgressBehind,
  readStateWithProgress,
  type StateWithProgress,
} from './learner-state.ts'

export type ProgressCall = Writing &
  Pick<Call, 'lenient' | 'isOpened'> & {
    readonly principal: Writing['principal'] & Pick<Call['principal'], 'role' | 'sees'>
  }

/**
 * Replaces a learner's progress in a course. An older record never replaces a newer one (409 `stale_progress`); an equally
 * old one does, so that retries are harmless. A record without a time, or with a guessed one (`lenient`), is the newest.
 *
 * @param guard called with the stored record before it is replaced; may throw
 */
export async function setProgress(
  call: ProgressCall,
  learner: User,
  { courseId: reference, completionPercentage, lastAccessed: given }: ProgressInput,
  guard: (current: Progress | undefined) => void = () => {},
): Promise<Progress> {
  const { database, now } = call
  if (given !== undefined && !call.lenient) requirePast('lastAccessed', given, now)
  const [course, stored] = await Promise.all([
    requireTrackableCourse(call, reference),
    readStateWithProgress(database, learner.id, reference),
  ])
  const isKept = learner.status === 'suspended' && (await call.isOpened?.(learner.id))
  if (learner.status !== 'active' && !isKept) {
    throw new ProblemError('user_inactive', `User ${learner.email} is ${learner.status}.`)
  }
  const enrolled = await requireEnrolled(call, learner, course, stored)
  const current = currentOf(learner, course, enrolled)
  guard(current)
  const written = recordAfter(call, current, {
    ...shownOf(learner, course),
    completionPercentage,
    status: statusOf(completionPercentage, course),
    lastAccessed: given === undefined || call.lenient ? presentTime(given ?? now, now, current) : given,
  })
  if (written === current) return current
  storeProgress(database, written, riseAfter(enrolled.state, current, written))
  const completed = await completeEnrollment(call, course, enrolled.state, written.completedAt)
  await recordLearning(call, [...enrolled.changes, ...completed, ...changesOf(current, written)])
  return written
}

/** The stored record if nothing changes. Throws 409 if the stored one is newer. */
function recordAfter(
  { now }: ProgressCall,
  current: Progress | undefined,
  given: Omit<Progress, 'startedAt' | 'completedAt' | 'version' | 'updatedAt'>,
): Progress {
  const { lastAccessed, ...others } = given
  const { completionPercentage, status } = others
  if (current && current.lastAccessed > lastAccessed) {
    throw new ProblemError(
      'stale_progress',
      `The stored progress is newer: its lastAccessed is ${current.lastAccessed}, this one is ${lastAccessed}.`,
      { members: { current } },
    )
  }
  const isSame =
    current?.completionPercentage === completionPercentage &&
    current.lastAccessed === lastAccessed &&
    current.status === status
  if (current && isSame) return current
  return {
    ...others,
    startedAt: current?.startedAt ?? lastAccessed,
    lastAccessed,
    completedAt: current?.completedAt ?? (status === 'completed' ? lastAccessed : null),
    version: (current?.version ?? 0) + 1,
    updatedAt: now,
  }
}

function riseAfter(
  { risenAt }: LearnerState,
  current: Progress | undefined,
  { completionPercentage, lastAccessed }: Progress,
): string {
  const hasRisen = current === undefined || completionPercentage > current.completionPercentage
  return hasRisen ? lastAccessed : (risenAt ?? current.lastAccessed)
}

function storeProgress(
  database: Writing['database'],
  {
    learnerId,
    courseId,
    completionPercentage,
    status,
    startedAt,
    lastAccessed,
    completedAt,
    version,
    updatedAt,
  }: Progress,
  risenAt: string | null,
): void {
  database.queue(sql`
    insert into progress (user_id, course_id, percentage, status, started_at, last_accessed, completed_at, risen_at, version, updated_at)
    values (${learnerId}, ${courseId}, ${completionPercentage}, ${status}, ${startedAt}, ${lastAccessed},
            ${completedAt}, ${risenAt}, ${version}, ${updatedAt})
    on conflict (user_id, course_id) do update set
      percentage = excluded.percentage, status = excluded.status, last_accessed = excluded.last_accessed,
      completed_at = excluded.completed_at, risen_at = excluded.risen_at, version = excluded.version, updated_at = excluded.updated_at`)
  database.queue(sql`
    insert into progress_steps (user_id, course_id, version, percentage, status, last_accessed, recorded_at)
    values (${learnerId}, ${courseId}, ${version}, ${completionPercentage}, ${status}, ${lastAccessed}, ${updatedAt})`)
}

function changesOf(before: Progress | undefined, after: Progress): Change[] {
  const both = { id: after.learnerId, before: before ?? null, after }
  const updated: Change = { action: 'progress.updated', ...both }
  const isCompleted = after.status === 'completed' && before?.status !== 'completed'
  return isCompleted ? [updated, { action: 'progress.completed', ...both }] : [updated]
}

/** Returns a time that stands for now: not ahead of this clock, and not before the stored record. */
function presentTime(given: string, now: string, current: Progress | undefined): string {
  const past = given < now ? given : now
  return current && current.lastAccessed > past ? current.lastAccessed : past
}

async function requireTrackableCourse(call: ProgressCall, reference: string): Promise<Course> {
  const { database } = call
  const known = visibleCourses(call)
  const id = known ? await resolve(database, 'courses', reference, known) : reference
  const row =
    id === undefined
      ? undefined
      : await database.one<CourseRow>(
          sql`select ${courseColumns} from courses c where ${matchesReference('courses', id)}`,
        )
  const course = row && toCourse(row)
  if (!course || (isRole(call, 'learner') && course.status === 'draft')) {
    throw parentNotFound('#/courseId', 'course', reference)
  }
  await requireOpen(call, course)
  if (course.progressTracking.enabled || (await call.isOpened?.(course.id))) return course
  throw new ProblemError('progress_disabled', `Progress tracking is disabled for course ${course.title}.`)
}

/** The caller must record the changes. */
interface Enrolled {
  readonly state: LearnerState
  readonly progress: ProgressBehind | undefined
  readonly changes: readonly Change[]
}

/** The first progress creates the enrolment, unless learners record it themselves: they cannot enrol. */
async function requireEnrolled(
  call: ProgressCall,
  learner: User,
  course: Course,
  stored: StateWithProgress | undefined,
): Promise<Enrolled> {
  const { database, now } = call
  const userId = learner.id
  const { id: courseId } = course
  if (!stored) {
    if (isRole(call, 'learner'))
      throw new ProblemError('forbidden', `You are not enrolled in course ${course.title}.`)
    const id = call.newId('enr')
    await database.run(sql`
      insert into enrollments (id, course_id, user_id, role, status, enrolled_at, source, version, created_at, updated_at,
                               user_email)
      values (${id}, ${courseId}, ${userId}, 'learner', 'active', ${now}, 'progress', 1, ${now}, ${now},
              (select email from users where id = ${userId}))`)
    const made = await findState(database, userId, courseId)
    if (!made) throw new Error(`User ${userId} was not enrolled in course ${courseId}`)
    const after = firstEnrollment(id, learner, course, now)
    const created = { action: 'enrollment.created', id, before: null, after } as const
    return { state: made, progress: undefined, changes: [created] }
  }
  const { state, progress } = stored
  const { enrollment } = state
  if (enrollment === 'active' || enrollment === 'completed') return { state, progress, changes: [] }
  const { id } =
    (await database.one<{ id: string }>(sql`
      select id from enrollments where user_id = ${userId} and course_id = ${courseId} and role = 'learner'`)) ??
    {}
  if (id !== undefined && enrollment === 'inactive' && (await call.isOpened?.(id))) {
    return { state, progress, changes: [] }
  }
  throw new ProblemError(
    'enrollment_inactive',
    `The enrolment of ${learner.email} in course ${course.title} is ${enrollment}; set the status of ${id} to active first.`,
    { members: { id } },
  )
}

function currentOf(learner: User, course: Course, { state, progress }: Enrolled): Progress | undefined {
  return (
    progress && {
      ...shownOf(learner, course),
      completionPercentage: state.percentage,
      status: state.status as Progress['status'],
      ...progress,
    }
  )
}

function shownOf({ id: learnerId, email: userEmail, externalId: userExternalId }: User, course: Course) {
  const { id: courseId, title: courseTitle, externalId: courseExternalId } = course
  return { learnerId, userEmail, userExternalId, courseId, courseTitle, courseExternalId }
}

/** Progress at 0% is in progress: who has it has opened the course. */
function statusOf(percentage: number, { progressTracking }: Course): Progress['status'] {
  return percentage >= progressTracking.completionThreshold ? 'completed' : 'in_progress'
}

const maxClockSkewMs = 5 * 60 * 1000

/** Beyond clock skew. Stored, such a time would make all later records stale. */
export function isFuture(time: string, now: string): boolean {
  return time > now && Date.parse(time) > Date.parse(now) + maxClockSkewMs
}

/** Throws 422 `in_future`. */
export function requirePast(field: string, time: string, now: string): void {
  if (!isFuture(time, now)) return
  const detail = `cannot be in the future: ${time} is more than 5 minutes after ${now}`
  throw invalid([{ pointer: `#/${field}`, code: 'in_future', detail }])
}
