import type { Caller } from '../../client/caller.ts'
import { ApiError } from '../../client/errors.ts'
import { shellWord } from '../../codec/display-text.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { type Call, calls } from '../../contract/calls.ts'
import { maxPageSize } from '../../contract/constants.ts'
import type { Operation } from '../../contract/operation.ts'
import { externalKeyOf, shownRecords } from '../dataset/shown-records.ts'
import { thingName } from '../operation/thing-name.ts'
import { CommandError } from '../terminal/errors.ts'
import { pluralise } from '../terminal/format-text.ts'
import type { CoursePlan } from './course-plan.ts'
import type { Writer } from './write.ts'

const concurrency = 8
/** Maximum pages of the trash to search; beyond them the platform's own refusal reports the conflict. */
const maxPages = 25
const maxNamed = 20

/** A lesson to create whose external id belongs to a lesson of another course. */
interface Conflict {
  readonly externalId: string
  readonly title: unknown
  /** Lesson that has the external id. */
  readonly other: JsonObject
  readonly isDeleted: boolean
}

/**
 * Throws a CommandError if plans would create lessons with external ids of other courses' lessons, as after copying
 * the file for the next term: the platform would refuse each of them after creating the course.
 *
 * @param hint what to do (default: to copy the course)
 */
export async function requireOwnLessons(
  { caller, signal }: Pick<Writer, 'caller' | 'signal'>,
  plans: readonly CoursePlan[],
  hint?: string,
): Promise<void> {
  for (const plan of plans) {
    const titles = new Map(
      plan.steps.flatMap(({ action, record: { externalId, title } }) =>
        action === 'create' && typeof externalId === 'string' ? [[externalId, title] as const] : [],
      ),
    )
    const conflicts = await conflictsOf({ caller, signal }, plan, titles)
    if (conflicts.length > 0) throw await refusal(caller, plan, conflicts, { signal, hint })
  }
}

async function conflictsOf(
  { caller, signal }: Pick<Writer, 'caller' | 'signal'>,
  { current }: CoursePlan,
  titles: ReadonlyMap<string, unknown>,
): Promise<Conflict[]> {
  const found = new Map<string, Conflict>()
  const add = (other: JsonObject, isDeleted: boolean) => {
    const externalId = String(other['externalId'])
    if (!titles.has(externalId) || other['courseId'] === current?.['id']) return
    found.set(externalId, { externalId, title: titles.get(externalId), other, isDeleted })
  }
  const ids = [...titles.keys()]
  for (let from = 0; from < ids.length; from += concurrency) {
    const some = ids.slice(from, from + concurrency)
    for (const lessons of await Promise.all(some.map((id) => lessonsNamed(caller, id, signal)))) {
      for (const lesson of lessons) add(lesson, false)
    }
  }
  if (found.size < titles.size) {
    for await (const lesson of deletedRecords(caller, calls.lessons.listDeleted, signal)) add(lesson, true)
  }
  return ids.flatMap((id) => found.get(id) ?? [])
}

/** Returns the lessons with an external id; none if the platform offers no such list. */
async function lessonsNamed(caller: Caller, externalId: string, signal: AbortSignal): Promise<JsonObject[]> {
  const query = { external_id: externalId, limit: maxPageSize }
  try {
    // Read only one page: if the platform ignores the filter, its refusal reports further conflicts.
    for await (const page of caller.pages<Operation>(calls.lessons.list, {
      query,
      signal,
    })) {
      return (await shownRecords(caller, calls.lessons.list, page)).filter(isJsonObject)
    }
    return []
  } catch (error) {
    if (isUnavailable(error)) return []
    throw error
  }
}

/** Yields the records in the trash, which keep their external ids; none if the platform offers no such list. */
async function* deletedRecords(caller: Caller, list: Call, signal: AbortSignal): AsyncGenerator<JsonObject> {
  let left = maxPages
  try {
    const query = { limit: maxPageSize }
    for await (const { data } of caller.pages<Operation>(list, { query, signal })) {
      yield* data.filter(isJsonObject)
      left -= 1
      if (left === 0) return
    }
  } catch (error) {
    if (!isUnavailable(error)) throw error
  }
}

function isUnavailable(error: unknown): boolean {
  return error instanceof ApiError && [400, 403, 404, 422].includes(error.status)
}

async function refusal(
  caller: Caller,
  { record }: CoursePlan,
  conflicts: readonly Conflict[],
  { signal, hint }: { readonly signal: AbortSignal; readonly hint: string | undefined },
): Promise<CommandError> {
  const courses = new Map<unknown, JsonObject>()
  for (const { other } of conflicts) {
    const { courseId, courseTitle } = other
    if (courses.has(courseId) || courses.size >= maxNamed) continue
    courses.set(
      courseId,
      (await courseShown(caller, String(courseId), signal)) ?? { id: courseId, title: courseTitle },
    )
  }
  const lines = conflicts.slice(0, maxNamed).map(({ externalId, other, isDeleted }) => {
    const course = courses.get(other['courseId'])
    const name = course?.['title'] === undefined ? String(other['courseId']) : thingName(course)
    return `${externalId}: ${isDeleted ? 'deleted lesson' : 'lesson'} ${other['title']} of course ${name}`
  })
  const [source] = courses.values()
  const { externalId, title } = record
  const from = shellWord(
    source ? (source['externalId'] ? `ext:${externalKeyOf(source)}` : String(source['id'])) : '<course>',
  )
  const one = conflicts.length === 1
  return new CommandError(
    'duplicate',
    'conflict',
    `${pluralise(conflicts.length, 'lesson')} of course ${thingName(record)} ${one ? 'has the external id of a lesson' : 'have external ids of lessons'} of another course; nothing was sent`,
    {
      why: [...lines, ...(conflicts.length > maxNamed ? [`and ${conflicts.length - maxNamed} more`] : [])],
      hint:
        hint ??
        `To make a new course of that one: learnctl courses copy ${from} --title ${shellWord(String(title))} --external-id ${shellWord(String(externalId))}; or give these lessons external ids of their own`,
      details: conflicts.map(({ externalId, title, other, isDeleted }) => ({
        ...{
          externalId,
          title,
          lessonId: other['id'] ?? null,
          courseId: other['courseId'] ?? null,
          isDeleted,
        },
      })),
    },
  )
}

async function courseShown(
  caller: Caller,
  courseId: string,
  signal: AbortSignal,
): Promise<JsonObject | null> {
  try {
    const { data } = await caller.call(calls.courses.get, { params: { courseId }, signal })
    return isJsonObject(data) ? data : null
  } catch (error) {
    if (isUnavailable(error)) return null
    throw error
  }
}

/** A course in the trash has the external id of a new one. */
export function deletedCourse(externalId: string): CommandError {
  const reference = shellWord(`ext:${externalId}`)
  return new CommandError(
    'duplicate',
    'conflict',
    `Course ${externalId} was deleted and keeps its external id; nothing was changed`,
    {
      why: [`To delete it for good: learnctl courses delete ${reference} --erase`],
      hint: 'Give the new course another one: --external-id <id>',
    },
  )
}
