import { ApiError } from '../../client/errors.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { CourseRecord, courses } from '../dataset/courses.ts'
import { findShown } from '../dataset/find.ts'
import { lessons } from '../dataset/lessons.ts'
import { describeFaults } from '../operation/refused-call.ts'
import { thingName } from '../operation/thing-name.ts'
import { CommandError } from '../terminal/errors.ts'
import { withoutDefaults } from './compare.ts'
import type { CoursePlan, LessonStep } from './course-plan.ts'
import { createExecutor, type Writing } from './execute.ts'
import { namesOf } from './sources/shown-course.ts'
import type { Outcome, Refusal, Step, Unit } from './step.ts'
import { versionOf } from './write.ts'

/** Progress of a course plan, updated while its steps are sent. */
export interface SentCourse {
  /** Course as the API shows it; null before it is created. */
  course: JsonObject | null
  created: number
  updated: number
  deleted: number
  /** Refused lessons with the reason. */
  readonly refused: { readonly lesson: JsonObject; readonly message: string }[]
}

/** Initial state. */
export function nothingSent(): SentCourse {
  return { course: null, created: 0, updated: 0, deleted: 0, refused: [] }
}

/**
 * Carries out a plan in phases: the course, its lessons, deletions, then the status, since an archived course takes
 * no changes and learners must not see half a course. Throws what prevents it from continuing; `sent` then has what
 * was sent, and a new plan the rest.
 */
export async function sendCourse(writing: Writing, plan: CoursePlan, sent: SentCourse): Promise<void> {
  const { current, status, steps } = plan
  const removed = plan.prune ? plan.absent : []
  const hasLessons = steps.length > 0 || removed.length > 0
  const isChanged = hasLessons || Object.keys(plan.body).length > 0 || status !== 'archived'
  const isReopened = current?.['status'] === 'archived' && isChanged
  let course = current ?? (await created())
  if (isReopened) await update({ status: 'published' }, versionOf(course))
  const isFinal = !hasLessons && status !== null && status !== course['status']
  const body = { ...plan.body, ...(isFinal && { status }) }
  // Reopening the course has checked the version already.
  const version = isReopened ? undefined : versionOf(course)
  if (current && Object.keys(body).length > 0) await update(body, version)
  sent.course = course

  const executor = createExecutor<LessonStep | null>({ ...writing, names: namesOf(course), finish })
  await executor.run(steps.map((step) => lessonStep(step, course['id'])))
  if (sent.refused.length > 0) return
  await executor.run(
    removed.map((lesson) => ({ deed: 'delete', dataset: lessons, from: null, record: {}, current: lesson })),
  )
  if (status !== null && course['status'] !== status) await update({ status })

  async function created(): Promise<JsonObject> {
    const { externalId, ...others } = plan.record
    const fields = withoutDefaults(CourseRecord.partial(), others)
    const record = {
      ...(isJsonObject(fields) && fields),
      ...(externalId !== null && { externalId }),
      status: hasLessons || status === 'archived' ? 'draft' : status,
    }
    const shown = await writeCourse({ deed: 'create', record })
    // The platform's answer may lack the course.
    const isWhole = isJsonObject(shown) && shown['id'] !== undefined
    return isWhole ? shown : required(await findShown(writing.caller, courses, plan.record, writing.signal))
  }

  async function update(record: JsonObject, version?: number): Promise<void> {
    await writeCourse({ deed: 'patch', record, current: course, version })
    // The answer may show only the published interface of the new version.
    writing.names.forgetCourses()
    course = required(await writing.names.course(String(course['id'])))
    sent.course = course
  }

  /** Sends a write of the course. Returns the answer. */
  async function writeCourse(step: Pick<Step<null>, 'deed' | 'record' | 'current' | 'version'>) {
    let answer: unknown
    const executor = createExecutor<null>({
      ...writing,
      finish(_unit, [outcome]) {
        if (outcome?.kind === 'failed') throw changedSince(outcome.error, step)
        answer = outcome?.shown
      },
    })
    await executor.run([{ ...step, dataset: courses, from: null }])
    return answer
  }

  function finish({ steps: [step] }: Unit<LessonStep | null>, [outcome]: readonly Outcome[]): void {
    const from = step?.from
    if (outcome?.kind !== 'failed') {
      sent[from ? (from.action === 'create' ? 'created' : 'updated') : 'deleted'] += 1
    } else if (from) {
      sent.refused.push({ lesson: from.record, message: messageOf(outcome) })
    } else throw outcome.error
  }
}

/** Returns the step of a lesson. Those that take a place or a module are sent in order. */
function lessonStep(from: LessonStep, courseId: unknown): Step<LessonStep> {
  const { action, current, body } = from
  const isPlaced = action === 'create' || 'module' in body || 'order' in body
  const record = isPlaced ? { courseId, ...body } : body
  return { deed: action, dataset: lessons, from, record, current, lanes: isPlaced ? ['places'] : [] }
}

/** Returns why a lesson was refused; it names no flag and gives no hint. */
function messageOf({ error, detail }: Refusal): string {
  if (!(error instanceof ApiError)) return detail
  const { message, why } = describeFaults(error, { flagOf: () => null, hint: null })
  return [message, ...why].join(' ')
}

/** Returns an error for a course that changed after it was compared; other errors unchanged. */
function changedSince(
  error: unknown,
  { current, version }: Pick<Step<null>, 'current' | 'version'>,
): unknown {
  if (version === undefined || !(error instanceof ApiError) || error.status !== 412) return error
  const message = `Course ${thingName(current ?? {})} has changed since it was compared`
  return new CommandError(error.code, 'conflict', message, { cause: error })
}

function required(course: JsonObject | null): JsonObject {
  if (course) return course
  throw new CommandError('invalid_response', 'failure', 'The response does not contain the course')
}
