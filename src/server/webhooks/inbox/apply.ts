import sql from 'sql-template-tag'
import type { Course } from '../../../contract/courses.ts'
import type { Progress } from '../../../contract/progress.ts'
import type { GradeEvent, LmsEvent, ProgressEvent } from '../../../webhooks/event.ts'
import { setGrade } from '../../grades/gradebook.ts'
import { gradedBy, requireLearner } from '../../grades/graded.ts'
import type { Integration } from '../../integrations/integration.ts'
import { resolveIdentities } from '../../integrations/resolve-identities.ts'
import { ProblemError } from '../../problem/problem-error.ts'
import { isFuture } from '../../progress/past-time.ts'
import { type ProgressCall, setProgress } from '../../progress/progress-setting.ts'
import { findUser, type UserRow } from '../../users/user-row.ts'
import { nothing, type Outcome, type Subject } from './outcome.ts'

/** A transaction with what an event does in it, and the delivery that it came with. */
export interface Applying {
  readonly call: ProgressCall
  readonly integration: Pick<Integration, 'lmsKind' | 'gradeToProgress'>
  readonly deliveryId: string
}

/** Does what an event says; what keeps it from being done is its outcome. */
export async function applyEvent(applying: Applying, event: LmsEvent): Promise<Outcome> {
  if (event.type === 'ignored') return { ...nothing, status: 'ignored', reason: event.reason }
  const { call, integration } = applying
  const { database } = call
  const meant = { course: event.course, user: event.learner }
  const { course: courseId, user: userId } = await resolveIdentities(database, integration.lmsKind, meant)
  const subject = { courseId, userId }
  const missing = [
    ...(courseId === null ? ['course' as const] : []),
    ...(userId === null ? ['learner' as const] : []),
  ]
  if (courseId === null || userId === null) {
    const reason = missing.length === 1 ? `${missing[0]}_not_found` : 'not_found'
    return { ...nothing, ...subject, status: 'unmatched', reason, missing }
  }
  try {
    const apply = () => applyTo(applying, event, { courseId, userId })
    // A grade alone is refused before anything is written.
    if (event.type === 'grade' && integration.gradeToProgress === 'none') return await apply()
    // What it did so far is undone where it cannot be done as a whole.
    return await database.savepoint(apply)
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    return { ...refusalOf(error), ...subject }
  }
}

/** Why it was not done: by whom or what it is about, it waits for a match; by its time, something newer is there. */
function refusalOf(error: ProblemError): Omit<Outcome, keyof Subject> {
  const { code, message: detail, errors } = error
  const told = { ...nothing, reason: errors?.[0]?.code ?? code, detail }
  if (code === 'stale_grade' || code === 'stale_progress') return { ...told, status: 'stale' }
  if (code === 'enrollment_inactive') return { ...told, status: 'unmatched', missing: ['enrollment'] }
  if (code === 'user_inactive') return { ...told, status: 'unmatched', missing: ['learner'] }
  return { ...told, status: 'failed' }
}

async function applyTo(
  applying: Applying,
  event: GradeEvent | ProgressEvent,
  ids: { readonly courseId: string; readonly userId: string },
): Promise<Outcome> {
  const { call, deliveryId } = applying
  const { courseId, userId } = ids
  const at = event.type === 'grade' ? event.gradedAt : event.at
  if (isFuture(at, call.now)) {
    return {
      ...nothing,
      ...ids,
      status: 'failed',
      reason: 'in_future',
      detail: `Its time, ${at}, is in the future.`,
    }
  }
  if (event.type === 'progress') {
    const learner = await findUser(call.database, userId)
    requireActive(learner)
    // A first progress would enrol the learner, which is for the school to do.
    await requireLearner(call.database, userId, courseId)
    const completionPercentage = rounded(event.percentage)
    const progress = await setProgress(call, learner, { courseId, completionPercentage, lastAccessed: at })
    return { ...nothing, ...ids, status: 'applied', progress }
  }
  const { itemId, label, scoreGiven, scoreMaximum, weight, published, gradedAt } = event
  const place = { learnerId: userId, courseId, source: applying.integration.lmsKind, itemId }
  // A delivery that gives no name or weight leaves those of the gradebook.
  const item = { label: label || undefined, weight: weight ?? undefined }
  const input = { ...place, ...item, scoreGiven, scoreMaximum, published, gradedAt }
  const graded = await gradedBy(call, input, requireActive)
  const { warnings: _, ...grade } = await setGrade(call, graded, deliveryId)
  const progress = await progressOfGrade(applying, userId, graded.course)
  return { ...nothing, ...ids, status: 'applied', grade, progress }
}

function requireActive({ email, status }: Pick<UserRow, 'email' | 'status'>): void {
  if (status !== 'active') throw new ProblemError('user_inactive', `User ${email} is ${status}.`)
}

/**
 * What the grade of the course does to the progress in it, as the integration says. The learner was not there: when they
 * were last is kept, or else when they were enrolled stands for it. Null where nothing changes.
 */
async function progressOfGrade(
  { call, integration: { gradeToProgress } }: Applying,
  userId: string,
  course: Course,
): Promise<Progress | null> {
  if (gradeToProgress === 'none' || !course.progressTracking.enabled) return null
  const row = await call.database.one<{
    grade: number | null
    percentage: number | null
    last_accessed: string | null
    enrolled_at: string
  }>(sql`
    select g.percent as grade, p.percentage, p.last_accessed, e.enrolled_at from enrollments e
    left join progress p on p.user_id = e.user_id and p.course_id = e.course_id
    left join course_grades g on g.user_id = e.user_id and g.course_id = e.course_id
    where e.user_id = ${userId} and e.course_id = ${course.id} and e.role = 'learner'`)
  if (!row) return null
  const { grade, percentage } = row
  const isPassed = grade !== null && grade >= course.assessmentCriteria.passingScore
  const next =
    gradeToProgress === 'percent' ? Math.min(100, rounded(grade ?? 0)) : isPassed ? 100 : (percentage ?? 0)
  if (next === (percentage ?? 0)) return null
  const { now } = call
  const lastAccessed = row.last_accessed ?? (row.enrolled_at < now ? row.enrolled_at : now)
  const learner = await findUser(call.database, userId)
  return setProgress(call, learner, { courseId: course.id, completionPercentage: next, lastAccessed })
}

/** To four decimals: more says nothing, and is no number that anybody sent. */
function rounded(percentage: number): number {
  return Math.round(percentage * 1e4) / 1e4
}
