import type { Result } from '../../client/call-input.ts'
import type { Caller } from '../../client/caller.ts'
import { ApiError } from '../../client/errors.ts'
import { thingIn } from '../../client/foreign/body.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-object.ts'
import { calls } from '../../contract/calls.ts'
import type { Operation } from '../../contract/operation.ts'
import { CourseRecord, courses } from '../dataset/courses.ts'
import { findShown } from '../dataset/find.ts'
import { shownRecord } from '../dataset/shown-records.ts'
import { problemsIn } from '../operation/problem-lines.ts'
import type { WriteNotes } from '../operation/write-notes.ts'
import { CommandError } from '../terminal/errors.ts'
import type { CoursePlan, LessonStep } from './course-plan.ts'
import { withoutDefaults } from './without-defaults.ts'

/** What has been done so far; it is kept up to date while a plan is carried out. */
export interface Done {
  /** As the API shows it; null before it is made. */
  course: JsonObject | null
  created: number
  updated: number
  deleted: number
  /** Lessons that were refused, each with the reason. */
  readonly refused: { readonly lesson: JsonObject; readonly message: string }[]
}

/** What carrying out needs. */
export interface Carrying {
  readonly caller: Caller
  readonly signal: AbortSignal
  readonly notes: WriteNotes
}

/** What a platform refuses of one lesson, without a word about the others. */
const refusals = [400, 404, 409, 412, 413, 422]

/** Nothing yet. */
export function nothingDone(): Done {
  return { course: null, created: 0, updated: 0, deleted: 0, refused: [] }
}

/**
 * Carries out a plan, one request after the other: the course, its lessons in their order, what is deleted, and the
 * status last, since an archived course is closed to changes and learners are not to see half a course. Throws what keeps
 * it from going on; `done` then has what was done, and a plan made anew has the rest.
 */
export async function carryOut(carrying: Carrying, plan: CoursePlan, done: Done): Promise<void> {
  const removed = plan.prune ? plan.absent : []
  const hasLessons = plan.steps.length > 0 || removed.length > 0
  let course = plan.current
    ? await opened(carrying, plan, hasLessons)
    : await created(carrying, plan, hasLessons)
  done.course = course
  const update = { ...plan.body }
  if (!hasLessons && plan.status !== null && plan.status !== course['status']) update['status'] = plan.status
  if (plan.current && Object.keys(update).length > 0) course = await updated(carrying, course, update)
  done.course = course

  for (const step of plan.steps) {
    try {
      await sendLesson(carrying, step, course)
      if (step.action === 'create') done.created += 1
      else done.updated += 1
    } catch (error) {
      if (!(error instanceof ApiError) || !refusals.includes(error.status)) throw error
      const { message, why } = problemsIn(error, { flagOf: () => null, hint: null })
      done.refused.push({ lesson: step.record, message: [message, ...why].join(' ') })
    }
  }
  if (done.refused.length > 0) return
  for (const { id } of removed) {
    const params = { lessonId: String(id) }
    carrying.notes.take(
      (await carrying.caller.call(calls.lessons.delete, { params, signal: carrying.signal })).written,
    )
    done.deleted += 1
  }
  if (plan.status !== null && course['status'] !== plan.status)
    done.course = await updated(carrying, course, { status: plan.status })
}

async function created(
  { caller, notes, signal }: Carrying,
  plan: CoursePlan,
  hasLessons: boolean,
): Promise<JsonObject> {
  const { externalId, ...record } = plan.record
  const status = hasLessons || plan.status === 'archived' ? 'draft' : plan.status
  const fields = withoutDefaults(CourseRecord.partial(), record)
  const body = { ...(isJsonObject(fields) && fields), ...(externalId !== null && { externalId }), status }
  const result = await caller.call<Operation>(calls.courses.create, { body, signal })
  notes.take(result.written)
  // A platform may answer without the course.
  return (await courseIn(caller, result)) ?? required(await findShown(caller, courses, plan.record, signal))
}

/** The course, open to changes where there are some. */
async function opened(carrying: Carrying, plan: CoursePlan, hasLessons: boolean): Promise<JsonObject> {
  const course = plan.current ?? {}
  const isChanged = hasLessons || Object.keys(plan.body).length > 0 || plan.status !== 'archived'
  if (course['status'] !== 'archived' || !isChanged) return course
  return updated(carrying, course, { status: 'published' })
}

async function updated(
  { caller, notes, signal }: Carrying,
  { id }: JsonObject,
  body: JsonObject,
): Promise<JsonObject> {
  const params = { courseId: String(id) }
  notes.take((await caller.call<Operation>(calls.courses.update, { params, body, signal })).written)
  // The answer may be what the published interface says of the new version alone.
  const result = await caller.call(calls.courses.get, { params, handling: 'strict', signal })
  return required(await courseIn(caller, result))
}

async function sendLesson(
  { caller, notes, signal }: Carrying,
  step: LessonStep,
  course: JsonObject,
): Promise<void> {
  const modules = Array.isArray(course['modules']) ? course['modules'].filter(isJsonObject) : []
  const { module } = step
  const moduleId = module === null || module === undefined ? null : (modules[module]?.['id'] ?? null)
  const body = {
    ...step.body,
    ...(module !== undefined && (module !== null || step.current) && { moduleId }),
  }
  if (step.current === null) {
    const { lessons } = calls
    const whole = { courseId: course['id'], ...body }
    notes.take((await caller.call<Operation>(lessons.create, { body: whole, signal })).written)
    return
  }
  const params = { lessonId: String(step.current['id']) }
  notes.take((await caller.call<Operation>(calls.lessons.update, { params, body, signal })).written)
}

async function courseIn(
  caller: Caller,
  result: Pick<Result<unknown>, 'data' | 'strict'>,
): Promise<JsonObject | null> {
  const data = thingIn(result.data, 'course')
  const course = await shownRecord(caller, calls.courses.list, { ...result, data })
  return isJsonObject(course) && course['id'] !== undefined ? course : null
}

function required(course: JsonObject | null): JsonObject {
  if (course) return course
  throw new CommandError('invalid_response', 'failure', 'The response does not contain the course')
}
