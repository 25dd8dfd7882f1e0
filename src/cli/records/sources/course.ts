import * as z from 'zod'
import type { Caller } from '../../../client/caller.ts'
import { isJsonObject, type JsonObject } from '../../../codec/json-text.ts'
import { calls } from '../../../contract/calls.ts'
import { CourseStatus } from '../../../contract/courses.ts'
import { moduleNamed, moduleNames } from '../../../contract/known-ids.ts'
import { longestRising } from '../../../contract/lesson-places.ts'
import { Reference } from '../../../contract/values.ts'
import type { Context } from '../../command/context.ts'
import { withDays } from '../../dataset/column.ts'
import {
  CourseRecord,
  courses,
  LessonRecord,
  lessons as lessonsDataset,
  ModuleRecord,
} from '../../dataset/courses.ts'
import { courseKeyOf, externalKeyOf, type Names, shownRecord } from '../../dataset/names.ts'
import { showRequest } from '../../operation/dry-run.ts'
import type { Output } from '../../output/output.ts'
import { CommandError, UsageError } from '../../terminal/errors.ts'
import { pluralise } from '../../terminal/format-text.ts'
import type { Io } from '../../terminal/io.ts'
import { readPlacedDocument, refusedDocument, violationsIn } from '../../terminal/placed-document.ts'
import { withoutDefaults } from '../compare.ts'
import { createProblems, type Declared, distinct, type Entry, type Place } from '../entries.ts'
import { shownIn } from '../finder.ts'
import { keyIn } from '../identity.ts'

const { courseId: _course, module: _module, order: _order, managedBy, ...lessonFields } = LessonRecord.shape
const { externalId, title: lessonTitle, contentBlocks, assessments, ...lessonAttributes } = lessonFields

/** Recognised by the external id, else by the title. Absent fields have their defaults. */
const LessonEntry = z.strictObject({
  externalId,
  title: lessonTitle,
  order: z.int().min(1).max(100_000).optional().meta({
    description: 'Place among all lessons of the course (default after the lesson before it in the file)',
  }),
  ...lessonAttributes,
  managedBy,
  contentBlocks,
  assessments,
})
const Lessons = z.array(LessonEntry).max(10_000).default([])

const ModuleEntry = ModuleRecord.extend({ lessons: Lessons })

const {
  externalId: _externalId,
  title,
  status: _status,
  modules: _modules,
  term: _term,
  ...attributes
} = CourseRecord.shape

/** Has no ids and no fields that the server sets. Absent fields have their defaults, except the status and the term. */
export const CourseDocument = z
  .strictObject({
    externalId: z.string().min(1).max(255),
    title,
    status: CourseStatus.optional(),
    ...attributes,
    term: Reference.nullable().optional(),
    modules: z.array(ModuleEntry).max(1000).default([]),
    lessons: Lessons,
  })
  .superRefine(({ modules, lessons }, context) => {
    const seen = new Set<string>()
    const groups = [
      ...modules.map((module, index) => ({ lessons: module.lessons, path: ['modules', index, 'lessons'] })),
      { lessons, path: ['lessons'] },
    ]
    for (const group of groups) {
      for (const [index, { externalId }] of group.lessons.entries()) {
        if (externalId === null) continue
        if (seen.has(externalId)) {
          context.addIssue({
            code: 'custom',
            path: [...group.path, index, 'externalId'],
            params: { code: 'duplicate' },
            message: `is used by several lessons: ${JSON.stringify(externalId)}`,
          })
        }
        seen.add(externalId)
      }
    }
  })
export type CourseDocument = z.output<typeof CourseDocument>

export interface CourseRecords {
  readonly course: JsonObject
  /** Lessons in order; their `order` counts from 1. */
  readonly lessons: readonly JsonObject[]
}

/** A course whose document has no status gets none. */
export function recordsOf({ modules, lessons, ...attributes }: CourseDocument): CourseRecords {
  const names = moduleNames(modules)
  const entries = [
    ...modules.flatMap((module, index) => module.lessons.map((entry) => ({ entry, module: names[index] }))),
    ...lessons.map((entry) => ({ entry, module: null })),
  ]
  const course = { ...attributes, modules: modules.map(({ lessons: _, ...module }) => module) }
  return {
    course,
    lessons: orderByNumber(entries, ({ entry }) => entry.order).map(({ entry, module }, index) => ({
      ...entry,
      courseId: `ext:${course.externalId}`,
      module,
      order: index + 1,
    })),
  }
}

/**
 * Returns the document of a course, without defaults; a lesson has an `order` only if its place in the file does not
 * imply it. Reading the document returns the same records, with lessons numbered from 1.
 */
export function documentOf({ course, lessons }: CourseRecords): JsonObject {
  const modules = Array.isArray(course['modules']) ? course['modules'].filter(isJsonObject) : []
  const ordered = lessons.toSorted((one, other) => Number(one['order']) - Number(other['order']))
  const places = new Map<unknown, number | null>([[null, null]])
  const placed = ordered.map((lesson, rank) => ({ lesson, rank, place: placeIn(lesson) }))
  const inModule = Map.groupBy(placed, ({ place }) => place)
  const groups = modules.map((_, index) => inModule.get(index) ?? [])
  const beside = inModule.get(null) ?? []
  const file = [...groups.flat(), ...beside]
  const numbers = numbersFor(file.map(({ rank }) => rank))
  const orders = new Map(file.map(({ lesson }, index) => [lesson, numbers[index]]))
  const entry = ({ lesson }: (typeof placed)[number]) => ({ ...lesson, order: orders.get(lesson) })
  const { term, ...others } = course
  const document = {
    ...others,
    ...(term !== null && { term }),
    modules: modules.map((module, index) => ({ ...module, lessons: groups[index]?.map(entry) ?? [] })),
    lessons: beside.map(entry),
  }
  return withoutDefaults(CourseDocument, document) as JsonObject

  function placeIn({ module = null }: JsonObject): number | null {
    if (!places.has(module)) {
      const place = moduleNamed(modules, String(module))
      places.set(module, place === null || place < 0 ? null : place)
    }
    return places.get(module) ?? null
  }
}

/**
 * Reads the records of a course file, YAML or JSON; `-` is standard input. Throws a UsageError with every problem of
 * the file and its line.
 */
export async function readCourseFile(io: Io, path: string): Promise<CourseRecords> {
  const document = await readPlacedDocument(io, path)
  if (isJsonObject(document.value) && 'learnctl' in document.value) {
    throw new UsageError(`${document.name} is the file of an academy, not of one course`, {
      hint: 'Use "learnctl diff" or "learnctl apply"',
    })
  }
  const parsed = CourseDocument.safeParse(withDays(CourseDocument, document.value), { reportInput: true })
  if (!parsed.success) throw refusedDocument(document, violationsIn(CourseDocument, parsed.error))
  return recordsOf(parsed.data)
}

/**
 * Returns the records of courses as entries, each course before its lessons. Unlike in academy files, a label that a file
 * does not have is removed. A course without an external id is named by the step that creates it.
 *
 * @throws UsageError if a course or lesson is declared twice
 */
export function declaredCourses(
  courses: readonly { readonly records: CourseRecords; readonly file: string }[],
): Declared {
  const problems = createProblems()
  const entries = courses.map(({ records: { course, lessons }, file }) => {
    const place = { file, line: 0 }
    const entry = courseEntry('courses', course, place)
    const inCourse = lessons.map((lesson) =>
      courseEntry('lessons', { ...lesson, courseId: entry.key }, place),
    )
    return { entry, inCourse }
  })
  const declared = distinct(
    new Map([
      ['courses', entries.map(({ entry }) => entry)],
      ['lessons', entries.flatMap(({ inCourse }) => inCourse)],
    ]),
    problems,
  )
  problems.throwIfAny()
  return declared
}

function courseEntry(
  dataset: 'courses' | 'lessons',
  { externalId, ...others }: JsonObject,
  place: Place,
): Entry {
  const record = typeof externalId === 'string' ? { externalId, ...others } : others
  return { dataset, record, key: keyIn(dataset, record) ?? 'step:0', place }
}

/**
 * Sorts things of a file: numbered ones take that place of the whole, from 1; the others fill the gaps in file order.
 */
function orderByNumber<Thing>(
  things: readonly Thing[],
  numberOf: (thing: Thing) => number | undefined,
): Thing[] {
  const sequence = things.filter((thing) => numberOf(thing) === undefined)
  const numbered = things.filter((thing) => numberOf(thing) !== undefined)
  numbered.sort((one, other) => (numberOf(one) ?? 0) - (numberOf(other) ?? 0))
  for (const thing of numbered) sequence.splice((numberOf(thing) ?? 1) - 1, 0, thing)
  return sequence
}

/**
 * Returns the numbers that things need so that `orderByNumber` gives these ranks (from 0, in file order): as few as
 * possible, undefined for the others.
 */
function numbersFor(ranks: readonly number[]): (number | undefined)[] {
  const kept = longestRising(ranks)
  return ranks.map((rank, index) => (kept.has(index) ? undefined : rank + 1))
}

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

/** Lessons without an external id are matched by title; a course without one gets its id instead. */
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

/** Throws a CommandError if the platform does not have the term. */
export async function withTermKey(names: Pick<Names, 'term'>, course: JsonObject): Promise<JsonObject> {
  const { term } = course
  if (typeof term !== 'string') return course
  const shown = await names.term(term)
  if (shown) return { ...course, term: `ext:${externalKeyOf(shown)}` }
  throw new CommandError('not_found', 'notFound', `Term ${term} not found`, {
    hint: `To see the terms: learnctl terms list`,
  })
}

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

/** Platforms hide them from learners. */
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
