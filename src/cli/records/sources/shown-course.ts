import type { Caller } from '../../../client/caller.ts'
import { isJsonObject, type JsonObject } from '../../../codec/json-text.ts'
import { calls } from '../../../contract/calls.ts'
import type { Context } from '../../command/context.ts'
import { courses } from '../../dataset/courses.ts'
import { lessons as lessonsDataset } from '../../dataset/lessons.ts'
import { courseKeyOf, type Names } from '../../dataset/names.ts'
import { externalKeyOf, shownRecord } from '../../dataset/shown-records.ts'
import { showRequest } from '../../operation/dry-run.ts'
import type { Output } from '../../output/output.ts'
import { CommandError, UsageError } from '../../terminal/errors.ts'
import { pluralise } from '../../terminal/format-text.ts'
import { shownIn } from '../finder.ts'
import { type CourseRecords, documentOf } from './course.ts'

/** A course and its lessons as the API shows them, lessons in their order. */
export interface ShownCourse {
  readonly course: JsonObject
  readonly lessons: readonly JsonObject[]
}

const maximumLessons = 100_000

/** Throws if the platform does not show the course and its lessons. */
export async function readShownCourse(
  caller: Caller,
  reference: string,
  signal: AbortSignal,
): Promise<ShownCourse> {
  const asked = { params: { courseId: reference }, signal } as const
  const course = shownRecord(caller, calls.courses.list, await caller.call(calls.courses.get, asked))
  if (!isJsonObject(course)) {
    throw new CommandError('invalid_response', 'failure', `The response does not contain course ${reference}`)
  }
  return { course, lessons: await readLessons(caller, course, signal) }
}

/** Throws a NotOfferedError if the platform does not list lessons. */
export async function readLessons(
  caller: Caller,
  { id }: JsonObject,
  signal: AbortSignal,
): Promise<JsonObject[]> {
  const lessons: JsonObject[] = []
  const query = { course_id: String(id), sort: 'order' }
  for await (const lesson of shownIn({ caller, signal }, lessonsDataset, query)) {
    // The platform may ignore the filter.
    if (String(lesson['courseId'] ?? id) === String(id)) lessons.push(lesson)
    if (lessons.length > maximumLessons) {
      throw new CommandError('too_many', 'failure', `Course ${id} has more than ${maximumLessons} lessons`)
    }
  }
  return lessons.sort((one, other) => Number(one['order']) - Number(other['order']))
}

/**
 * Converts a shown course to records. Lessons without an external id are matched by title; a course without one gets
 * its id instead.
 */
export async function shownRecords({ course, lessons }: ShownCourse): Promise<CourseRecords> {
  const names = namesOf(course)
  return {
    course: await courses.toRecord(course, names),
    lessons: await Promise.all(
      lessons.map(async (lesson) => ({
        ...(await lessonsDataset.toRecord(lesson, names)),
        externalId: lesson['externalId'] ?? null,
      })),
    ),
  }
}

/** Replaces the term of a course by its key. Throws a CommandError if the platform does not have it. */
export async function withTermKey(names: Pick<Names, 'term'>, course: JsonObject): Promise<JsonObject> {
  const { term } = course
  if (typeof term !== 'string') return course
  const shown = await names.term(term)
  if (shown) return { ...course, term: `ext:${externalKeyOf(shown)}` }
  throw new CommandError('not_found', 'notFound', `Term ${term} not found`, {
    hint: `To see the terms: learnctl terms list`,
  })
}

/** Returns the names within one course, without any request. */
export function namesOf(course: JsonObject): Names {
  return {
    course: async () => course,
    courseKey: async () => courseKeyOf(course),
    userKey: async (id) => id,
    user: async () => null,
    group: async () => null,
    term: async () => null,
    forgetCourses: () => {},
  }
}

/** Notes that the platform hides answers to questions, as it does from learners. */
export async function noteHiddenAnswers(
  output: Pick<Output, 'note'>,
  lessons: readonly JsonObject[],
): Promise<void> {
  const inside = (things: readonly JsonObject[], field: string) =>
    things.flatMap((thing) => (Array.isArray(thing[field]) ? thing[field].filter(isJsonObject) : []))
  const questions = inside(inside(lessons, 'assessments'), 'questions')
  const hidden = questions.filter(({ answer }) => answer === undefined)
  if (hidden.length === 0) return
  const count = pluralise(hidden.length, 'question')
  await output.note(`The platform does not show you the answer of ${count}; it will be missing`)
}

/** Prints a course with all its lessons as the document that `courses apply` reads. */
export async function printCourse(context: Context, reference: string): Promise<void> {
  const { io, session, settings, output } = context
  if (!['json', 'jsonl', 'yaml'].includes(settings.output.value)) {
    throw new UsageError('--with-lessons requires -o yaml or -o json', {
      hint: `learnctl courses get ${reference} --with-lessons -o yaml`,
    })
  }
  const caller = await session.caller()
  if (settings.dryRun.value) {
    return showRequest(context, caller.request(calls.courses.get, { params: { courseId: reference } }))
  }
  const shown = await readShownCourse(caller, reference, io.signal)
  await noteHiddenAnswers(output, shown.lessons)
  await output.document(documentOf(await shownRecords(shown)))
}
