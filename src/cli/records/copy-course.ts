import { NotOfferedError } from '../../client/errors.ts'
import { escapeHidden, shellWord } from '../../codec/display-text.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { platformName } from '../../config/target.ts'
import { calls } from '../../contract/calls.ts'
import type { Context } from '../command/context.ts'
import { courses } from '../dataset/courses.ts'
import { findShown } from '../dataset/find.ts'
import { createNames } from '../dataset/names.ts'
import { thingName } from '../operation/thing-name.ts'
import { requireLearnctl } from '../session/learnctl-server.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import { pluralise } from '../terminal/format-text.ts'
import { refusal, requireOwnLessons } from './apply-courses.ts'
import { whileApplying } from './apply-lock.ts'
import { coursePlanData, coursePlansOf, coursePlansText, lessonName } from './course-plan.ts'
import { makePlan } from './make-plan.ts'
import { carryOut, outcomeText } from './run-apply.ts'
import {
  declaredCourses,
  noteHiddenAnswers,
  readShownCourse,
  type ShownCourse,
  shownRecords,
  withTermKey,
} from './sources/course.ts'
import { openWriter, type Writer } from './write.ts'

export interface CopyOptions {
  /** Undefined for the same academy. */
  readonly toProfile: string | undefined
  readonly title: string | undefined
  readonly externalId: string | undefined
  /** `2027-{id}` or `2026=2027`. */
  readonly lessonIds: string | undefined
  /** `none` for no term. */
  readonly term: string | undefined
  /** Leaves due dates as they are in another term. */
  readonly keepDates: boolean
  readonly status: string | undefined
  /** Time to wait for another apply. */
}

/**
 * Copies a course with its lessons, in this academy or to another. External ids are copied only to another academy,
 * because they are unique within one. Throws a CommandError if the external id is taken.
 */
export async function copyCourse(context: Context, reference: string, options: CopyOptions): Promise<void> {
  const { io, session, output } = context
  const rule = options.lessonIds === undefined ? null : readRule(options.lessonIds)
  const source = await readShownCourse(await session.caller(), reference, io.signal)
  await noteHiddenAnswers(output, source.lessons)
  const target = options.toProfile === undefined ? session : context.sessionWith(options.toProfile)
  const copy = (context: Context) => makeCopy(context, source, target, { ...options, rule })
  if (context.settings.dryRun.value) return copy(context)
  await whileApplying(context, target, copy)
}

async function makeCopy(
  context: Context,
  source: ShownCourse,
  target: Context['session'],
  options: CopyOptions & { readonly rule: IdRule | null },
): Promise<void> {
  const { io, session, settings, output } = context
  const { status = 'draft' } = options
  const writing = await openWriter({ session: target, io })
  const { caller } = writing
  await requireLearnctl(target, caller, 'courses copy', io.signal)
  const isElsewhere = platformName(target.target()) !== platformName(session.target())
  const { course, lessons: original } = await shownRecords(source)
  const term = await termOf(context, writing, course, options)
  const isMoved = options.term !== undefined && typeof term === 'string' && !options.keepDates
  const names = createNames(await session.caller(), io.signal)
  const { termId } = source.course
  const terms = isMoved
    ? [typeof termId === 'string' ? await names.term(termId) : null, await writing.names.term(term)]
    : null
  const { lessons, note } = terms ? shiftDueDates(original, terms) : { lessons: original, note: null }
  if (note !== null) await output.note(note)
  const kept = isElsewhere ? (source.course['externalId'] ?? null) : null
  const record = {
    ...course,
    title: options.title ?? course['title'],
    externalId: options.externalId ?? kept,
    ...(term !== undefined && { term }),
    status,
  }
  if (record.externalId !== null && (await findShown(caller, courses, record, io.signal))) {
    const where = platformName(target.target())
    throw new CommandError(
      'duplicate',
      'conflict',
      `Course ${record.externalId} already exists in ${where}`,
      {
        hint: 'Give the copy another one: --external-id <id>',
      },
    )
  }
  const wanted = options.rule
    ? renamed(lessons, options.rule, isElsewhere)
    : lessons.map((lesson) => (isElsewhere ? lesson : { ...lesson, externalId: null }))
  const declared = declaredCourses([{ records: { course: record, lessons: wanted }, file: 'copy' }])
  const plan = await makePlan(writing, declared, { label: null, prune: false, isOfCourses: true })
  const change = { command: 'courses copy', source: thingName(source.course) }
  const planned = { plan, declared, reader: writing, change }
  await requireOwnLessons(planned, 'Use another rule: --lesson-ids')
  const asData = ['json', 'jsonl', 'yaml'].includes(settings.output.value)
  if (settings.dryRun.value) {
    const plans = await coursePlansOf(planned)
    return asData ? output.document(plans.map(coursePlanData)[0]) : output.text(coursePlansText(plans))
  }

  const tried = { skipsRefused: false, isTried: true }
  const { failures, done, ids } = await carryOut(context, planned, tried, async (restored) => {
    if (restored.length > 0) throw deletedCourse(String(record.externalId))
  })
  if (failures.length > 0) throw refusal(failures, outcomeText(done))
  const [courseId = ''] = ids
  const made = thingName({ ...record, externalId: record.externalId ?? courseId })
  const where = isElsewhere ? ` in ${platformName(target.target())}` : ''
  await output.done(
    `Copied course ${thingName(source.course)} to course ${made}${where}, ${status}, with ${pluralise(wanted.length, 'lesson')}`,
  )
  if (asData) {
    await output.document(
      (await caller.call(calls.courses.get, { params: { courseId }, signal: io.signal })).data,
    )
  } else if (settings.quiet.value || !io.stdout.isTTY) await output.text(`${escapeHidden(courseId)}\n`)
}

function deletedCourse(externalId: string): CommandError {
  const reference = shellWord(`ext:${externalId}`)
  return new CommandError(
    'duplicate',
    'conflict',
    `Course ${externalId} was deleted and keeps its external id; nothing was changed`,
    {
      why: [`To delete it for good: learnctl courses delete ${reference} --erase`],
      hint: 'Give the copy another one: --external-id <id>',
    },
  )
}

type IdRule = (externalId: string) => string

const placeholder = '{id}'
const maxIdLength = 255

/** Throws a UsageError for a rule that leaves external ids as they are. */
function readRule(text: string): IdRule {
  if (text.includes(placeholder) && text !== placeholder) return (id) => text.replaceAll(placeholder, id)
  const [, from = '', to] = /^([^=]+)=(.*)$/s.exec(text) ?? []
  if (to !== undefined && from !== to && from !== placeholder) return (id) => id.replaceAll(from, to)
  throw new UsageError(
    `--lesson-ids must be a pattern with ${placeholder} or old=new, not ${JSON.stringify(text)}`,
    {
      hint: '--lesson-ids 2027-{id} or --lesson-ids 2026=2027',
    },
  )
}

/** Throws a UsageError if the rule leaves an id as it is within an academy, or makes one twice or too long. */
function renamed(lessons: readonly JsonObject[], rule: IdRule, isElsewhere: boolean): JsonObject[] {
  const originals = new Map<string, string>()
  const problems: string[] = []
  const all = lessons.map((lesson) => {
    const { externalId: own } = lesson
    if (typeof own !== 'string') return lesson
    const externalId = rule(own)
    const before = originals.get(externalId)
    if (externalId === own && !isElsewhere)
      problems.push(`Lesson ${lessonName(lesson)} keeps its external id`)
    else if (externalId === '' || externalId.length > maxIdLength) {
      problems.push(
        `Lesson ${lessonName(lesson)} gets an external id that is not 1 to ${maxIdLength} characters long`,
      )
    } else if (before !== undefined)
      problems.push(`Lessons ${before} and ${own} both get the external id ${externalId}`)
    originals.set(externalId, own)
    return { ...lesson, externalId }
  })
  if (problems.length === 0) return all
  throw new UsageError(`--lesson-ids does not give each lesson an external id of its own`, { why: problems })
}

/** Returns the term of a copy by its key; null for none. A term that the target does not have is noted and left out. */
async function termOf(
  { output }: Context,
  { names }: Pick<Writer, 'names'>,
  { term }: JsonObject,
  { term: wanted, toProfile }: CopyOptions,
): Promise<string | null | undefined> {
  if (wanted === 'none') return null
  if (wanted === undefined && typeof term !== 'string') return undefined
  if (wanted !== undefined || toProfile === undefined) {
    return String((await withTermKey(names, { term: wanted ?? term }))['term'])
  }
  const shown = await names.term(String(term)).catch((error: unknown) => {
    if (error instanceof NotOfferedError) return null
    throw error
  })
  if (shown) return String(term)
  await output.note(`The copy has no term: ${String(term).replace(/^ext:/, 'term ')} is not in that academy`)
  return null
}

const dayMs = 86_400_000

/** Adds the days between the first days of two terms, if both are known. */
function shiftDueDates(
  lessons: readonly JsonObject[],
  terms: readonly (JsonObject | null)[],
): { readonly lessons: readonly JsonObject[]; readonly note: string | null } {
  const count = lessons.filter(hasDueDate).length
  if (count === 0) return { lessons, note: null }
  const [start = null, end = null] = terms.map(firstDay)
  const subject = `Due dates of ${pluralise(count, 'lesson')}`
  if (start === null || end === null) {
    const why = start === null ? 'the course has no term with a first day' : 'the new term has no first day'
    return { lessons, note: `${subject} stay as they are: ${why}` }
  }
  const days = Math.round((end - start) / dayMs)
  if (days === 0) return { lessons, note: null }
  const direction = days > 0 ? 'later' : 'earlier'
  return {
    lessons: lessons.map((lesson) => shifted(lesson, days)),
    note: `${subject} are ${pluralise(Math.abs(days), 'day')} ${direction}, as the first day of the term is; --keep-dates leaves them`,
  }
}

function firstDay(term: JsonObject | null): number | null {
  const day = term?.['startDate']
  return typeof day === 'string' ? Date.parse(day) : null
}

function assessmentsIn({ assessments }: JsonObject): readonly JsonObject[] {
  return Array.isArray(assessments) ? assessments.filter(isJsonObject) : []
}

function hasDueDate(lesson: JsonObject): boolean {
  return [lesson, ...assessmentsIn(lesson)].some(({ dueAt }) => typeof dueAt === 'string')
}

function shifted(lesson: JsonObject, days: number): JsonObject {
  const later = <Thing extends JsonObject>(thing: Thing) =>
    typeof thing['dueAt'] === 'string'
      ? { ...thing, dueAt: new Date(Date.parse(thing['dueAt']) + days * dayMs).toISOString() }
      : thing
  const assessments = assessmentsIn(lesson)
  return { ...later(lesson), ...(assessments.length > 0 && { assessments: assessments.map(later) }) }
}
