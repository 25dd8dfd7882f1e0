import type { Result } from '../../client/call-input.ts'
import type { Caller } from '../../client/caller.ts'
import { ApiError } from '../../client/errors.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { calls } from '../../contract/calls.ts'
import type { Operation } from '../../contract/operation.ts'
import { CourseRecord, courses } from '../dataset/courses.ts'
import { findShown } from '../dataset/find.ts'
import { lessons } from '../dataset/lessons.ts'
import { shownRecord } from '../dataset/shown-records.ts'
import { problemsIn } from '../operation/problem-lines.ts'
import { thingName } from '../operation/thing-name.ts'
import { withoutDefaults } from '../records/without-defaults.ts'
import {
  createRefusals,
  deleteRecord,
  updateRecord,
  versionOf,
  type Writer,
  write,
} from '../records/write.ts'
import { CommandError } from '../terminal/errors.ts'
import type { CoursePlan, LessonStep } from './course-plan.ts'

/** Work done so far, updated while a plan is carried out. */
export interface Done {
  /** Course as the API shows it; null before it is created. */
  course: JsonObject | null
  created: number
  updated: number
  deleted: number
  /** Refused lessons with the reason. */
  readonly refused: { readonly lesson: JsonObject; readonly message: string }[]
}

/** Dependencies of carryOut. */
export type Carrying = Omit<Writer, 'names'>

/** Refusals of lessons name no flag and give no hint. */
const seen = { flagOf: () => null, hint: null }

/** Initial state. */
export function nothingDone(): Done {
  return { course: null, created: 0, updated: 0, deleted: 0, refused: [] }
}

/**
 * Carries out a plan request by request: the course, its lessons in order, deletions, then the status, since an
 * archived course takes no changes and learners must not see half a course. Throws what prevents it from continuing;
 * `done` then has the work done, and a new plan the rest.
 */
export async function carryOut(carrying: Carrying, plan: CoursePlan, done: Done): Promise<void> {
  const removed = plan.prune ? plan.absent : []
  const hasLessons = plan.steps.length > 0 || removed.length > 0
  let course = plan.current
    ? await opened(carrying, plan, hasLessons)
    : await created(carrying, plan, hasLessons)
  if (course !== plan.current) done.course = course
  const update = { ...plan.body }
  if (!hasLessons && plan.status !== null && plan.status !== course['status']) update['status'] = plan.status
  if (plan.current && Object.keys(update).length > 0) {
    // Reopening the course has checked the version already.
    const isShown = course === plan.current
    course = await updated(carrying, course, update, isShown ? versionOf(course) : undefined)
  }
  done.course = course

  const refusals = createRefusals()
  for (const step of plan.steps) {
    try {
      await sendLesson(carrying, step, course)
      refusals.reset()
      if (step.action === 'create') done.created += 1
      else done.updated += 1
    } catch (error) {
      const { detail } = refusals.of(error)
      const isRefusal = error instanceof ApiError
      const { message, why } = isRefusal ? problemsIn(error, seen) : { message: detail, why: [] }
      done.refused.push({ lesson: step.record, message: [message, ...why].join(' ') })
    }
  }
  if (done.refused.length > 0) return
  for (const lesson of removed) {
    await deleteRecord(carrying, lessons, lesson)
    done.deleted += 1
  }
  if (plan.status !== null && course['status'] !== plan.status)
    done.course = await updated(carrying, course, { status: plan.status })
}

async function created(carrying: Carrying, plan: CoursePlan, hasLessons: boolean): Promise<JsonObject> {
  const { externalId, ...record } = plan.record
  const status = hasLessons || plan.status === 'archived' ? 'draft' : plan.status
  const fields = withoutDefaults(CourseRecord.partial(), record)
  const body = { ...(isJsonObject(fields) && fields), ...(externalId !== null && { externalId }), status }
  const result = await write(carrying, calls.courses.create, { body })
  const { caller, signal } = carrying
  // The platform's answer may lack the course.
  return courseIn(caller, result) ?? required(await findShown(caller, courses, plan.record, signal))
}

/** Returns the course, reopened if it is archived and has changes to take. */
async function opened(carrying: Carrying, plan: CoursePlan, hasLessons: boolean): Promise<JsonObject> {
  const course = plan.current ?? {}
  const isChanged = hasLessons || Object.keys(plan.body).length > 0 || plan.status !== 'archived'
  if (course['status'] !== 'archived' || !isChanged) return course
  return updated(carrying, course, { status: 'published' }, versionOf(course))
}

async function updated(
  carrying: Carrying,
  course: JsonObject,
  body: JsonObject,
  ifMatch?: number,
): Promise<JsonObject> {
  try {
    await updateRecord(carrying, courses, course, body, ifMatch)
  } catch (cause) {
    if (ifMatch === undefined || !(cause instanceof ApiError) || cause.status !== 412) throw cause
    throw new CommandError(
      cause.code,
      'conflict',
      `Course ${thingName(course)} has changed since it was compared`,
      {
        cause,
      },
    )
  }
  const { caller, signal } = carrying
  const params = courses.operations.params(course)
  // The answer may show only the published interface of the new version.
  const result = await caller.call<Operation>(calls.courses.get, { params, signal })
  return required(courseIn(caller, result))
}

async function sendLesson(carrying: Carrying, step: LessonStep, course: JsonObject): Promise<void> {
  const modules = Array.isArray(course['modules']) ? course['modules'].filter(isJsonObject) : []
  const { module } = step
  const moduleId = module === null || module === undefined ? null : (modules[module]?.['id'] ?? null)
  const body = {
    ...step.body,
    ...(module !== undefined && (module !== null || step.current) && { moduleId }),
  }
  if (step.current) await updateRecord(carrying, lessons, step.current, body)
  else await write(carrying, calls.lessons.create, { body: { courseId: course['id'], ...body } })
}

function courseIn(caller: Caller, result: Pick<Result<unknown>, 'data' | 'strict'>): JsonObject | null {
  const course = shownRecord(caller, calls.courses.list, result)
  return isJsonObject(course) && course['id'] !== undefined ? course : null
}

function required(course: JsonObject | null): JsonObject {
  if (course) return course
  throw new CommandError('invalid_response', 'failure', 'The response does not contain the course')
}
