import sql, { empty, join, raw, type Sql } from 'sql-template-tag'
import type { JsonObject } from '../../codec/json-text.ts'
import type { LmsKind, MappedNoun } from '../../contract/constants.ts'
import type { Course } from '../../contract/courses.ts'
import type { Delivery } from '../../contract/deliveries.ts'
import type { Grade } from '../../contract/grades.ts'
import type { Progress } from '../../contract/progress.ts'
import { DeliveryFault } from '../../lms/delivery.ts'
import type { Candidate, EventSettings, GradeEvent, LmsEvent, ProgressEvent } from '../../lms/event.ts'
import { readEvent } from '../../lms/kinds.ts'
import { rounded } from '../analytics/summary.ts'
import type { Database, Row } from '../database/database.ts'
import { matchesReference } from '../database/reference.ts'
import { setGrade } from '../grades/gradebook.ts'
import { requireLearner, resolveGrade } from '../grades/resolve-grade.ts'
import { ProblemError } from '../problem-error.ts'
import { isFuture, type ProgressCall, setProgress } from '../progress/progress-setting.ts'
import { findUser } from '../users/user-row.ts'
import type { Integration } from './integration.ts'

export interface Applying {
  readonly call: ProgressCall
  readonly integration: Pick<Integration, 'lmsKind' | 'gradeToProgress'>
  readonly deliveryId: string
}

/** An error that prevents this becomes the outcome. */
export async function applyEvent(applying: Applying, event: LmsEvent): Promise<Outcome> {
  if (event.type === 'ignored') return { ...noEffect, status: 'ignored', reason: event.reason }
  const { call, integration } = applying
  const { database } = call
  const keys = { course: event.course, user: event.learner }
  const { course: courseId, user: userId } = await resolveIdentities(database, integration.lmsKind, keys)
  const subject = { courseId, userId }
  const missing = [
    ...(courseId === null ? ['course' as const] : []),
    ...(userId === null ? ['learner' as const] : []),
  ]
  if (courseId === null || userId === null) {
    const reason = missing.length === 1 ? `${missing[0]}_not_found` : 'not_found'
    return { ...noEffect, ...subject, status: 'unmatched', reason, missing }
  }
  try {
    const apply = () => applyTo(applying, event, { courseId, userId })
    // A grade alone is refused before anything is written.
    if (event.type === 'grade' && integration.gradeToProgress === 'none') return await apply()
    // Roll back a part of it if the rest fails.
    return await database.savepoint(apply)
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    return { ...refusalOf(error), ...subject }
  }
}

function refusalOf(error: ProblemError): Omit<Outcome, keyof Subject> {
  const { code, message: detail, errors } = error
  const outcome = { ...noEffect, reason: errors?.[0]?.code ?? code, detail }
  if (code === 'stale_grade' || code === 'stale_progress') return { ...outcome, status: 'stale' }
  if (code === 'enrollment_inactive') return { ...outcome, status: 'unmatched', missing: ['enrollment'] }
  if (code === 'user_inactive') return { ...outcome, status: 'unmatched', missing: ['learner'] }
  return { ...outcome, status: 'failed' }
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
      ...noEffect,
      ...ids,
      status: 'failed',
      reason: 'in_future',
      detail: `Its time, ${at}, is in the future.`,
    }
  }
  if (event.type === 'progress') {
    const learner = await findUser(call.database, userId)
    requireActive(learner)
    // The first progress would enrol the learner, which only the school may do.
    await requireLearner(call.database, userId, courseId)
    const completionPercentage = rounded(event.percentage)
    const progress = await setProgress(call, learner, { courseId, completionPercentage, lastAccessed: at })
    return { ...noEffect, ...ids, status: 'applied', progress }
  }
  const { itemId, label, scoreGiven, scoreMaximum, weight, published, gradedAt } = event
  const place = { learnerId: userId, courseId, source: applying.integration.lmsKind, itemId }
  // A delivery without a name or weight keeps the name and weight of the gradebook.
  const item = { label: label || undefined, weight: weight ?? undefined }
  const input = { ...place, ...item, scoreGiven, scoreMaximum, published, gradedAt }
  const graded = await resolveGrade(call, input, requireActive)
  const { warnings: _, ...grade } = await setGrade(call, graded, deliveryId)
  const progress = await setProgressOfGrade(applying, userId, graded.course)
  return { ...noEffect, ...ids, status: 'applied', grade, progress }
}

function requireActive({ email, status }: Readonly<Record<'email' | 'status', string>>): void {
  if (status !== 'active') throw new ProblemError('user_inactive', `User ${email} is ${status}.`)
}

/** Null for none. The grade is no visit of the learner, so the last access is kept, or else is the enrolment. */
async function setProgressOfGrade(
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

export interface Subject {
  readonly userId: string | null
  readonly courseId: string | null
}

export interface Outcome extends Subject {
  readonly status: Delivery['status']
  /** In one word; null if something was done. */
  readonly reason: string | null
  /** The reason as a sentence, if there is more to say. */
  readonly detail: string | null
  readonly missing: Delivery['missing']
  readonly grade: Grade | null
  readonly progress: Progress | null
}

export const noEffect: Omit<Outcome, 'status'> = {
  reason: null,
  detail: null,
  missing: [],
  userId: null,
  courseId: null,
  grade: null,
  progress: null,
}

const replayableReasons: readonly string[] = ['no_maximum']

export function isDone({ status }: Pick<Outcome, 'status'>): boolean {
  return status === 'applied' || status === 'stale'
}

/** The payload of an unrelated event is not stored. */
export function mayNeedBody({ status, reason }: Pick<Outcome, 'status' | 'reason'>): boolean {
  return status !== 'ignored' || replayableReasons.includes(reason ?? '')
}

export function readEventOrFault(
  kind: LmsKind,
  body: JsonObject,
  settings: EventSettings,
): LmsEvent | DeliveryFault {
  try {
    return readEvent(kind, body, settings)
  } catch (error) {
    if (error instanceof DeliveryFault) return error
    throw error
  }
}

export type Identities = Readonly<Record<MappedNoun, readonly Candidate[]>>

interface FoundRow extends Row {
  readonly course: string | null
  readonly mapped_course: string | null
  readonly user: string | null
  readonly mapped_user: string | null
}

/**
 * Null for an unknown one. A mapping takes precedence, even if it leads to a deleted record, which counts as unknown.
 * Deleted users and courses in the trash are never found.
 */
export async function resolveIdentities(
  database: Database,
  kind: string,
  { course, user }: Identities,
): Promise<Readonly<Record<MappedNoun, string | null>>> {
  const row = await database.one<FoundRow>(sql`
    select ${mappedOf(kind, 'course', course)} as mapped_course, ${foundOf('course', course)} as course,
      ${mappedOf(kind, 'user', user)} as mapped_user, ${foundOf('user', user)} as "user"`)
  const of = async (noun: MappedNoun, mapped: string | null | undefined, found: string | null | undefined) =>
    mapped === null || mapped === undefined ? (found ?? null) : findLiving(database, noun, mapped)
  return {
    course: await of('course', row?.mapped_course, row?.course),
    user: await of('user', row?.mapped_user, row?.user),
  }
}

function mappedOf(kind: string, noun: MappedNoun, candidates: readonly Candidate[]): Sql {
  const keys = candidates.filter(({ by }) => by === 'key')
  return firstOf(
    keys.map(
      ({ value }) => sql`(
        select target_id from integration_mappings
        where lms_kind = ${kind} and noun = ${noun} and external_key = ${value})`,
    ),
  )
}

function foundOf(noun: MappedNoun, candidates: readonly Candidate[]): Sql {
  const table = noun === 'course' ? 'courses' : 'users'
  const conditions = candidates.flatMap(({ by, value }) => {
    if (by === 'key' || (by === 'email' && noun === 'course')) return []
    if (by === 'externalId') return [sql`external_id = ${value}`]
    return [by === 'email' ? sql`email_key = ${value.toLowerCase()}` : matchesReference(table, value)]
  })
  return firstOf(
    conditions.map((condition) => sql`(select id from ${raw(table)} where ${condition}${alive[noun]})`),
  )
}

const alive = { course: empty, user: sql` and status <> 'deleted'` }

function firstOf(ids: readonly Sql[]): Sql {
  return sql`coalesce(${join([...ids, sql`null`, sql`null`])})`
}

async function findLiving(database: Database, noun: MappedNoun, id: string): Promise<string | null> {
  const table = noun === 'course' ? 'courses' : 'users'
  const row = await database.one<{ id: string }>(
    sql`select id from ${raw(table)} where id = ${id}${alive[noun]}`,
  )
  return row?.id ?? null
}
