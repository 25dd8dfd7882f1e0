import { shellWord } from '../../codec/display-text.ts'
import { escapeReference } from '../../codec/reference.ts'
import type { Command, Given } from '../command/command.ts'
import type { Question } from '../command/confirm.ts'
import type { Count, Lookup } from '../operation/lookup.ts'
import { thingName } from '../operation/thing-name.ts'
import { valueAt } from '../output/columns.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import { pluralise } from '../terminal/format-text.ts'

type DeletedThing = 'course' | 'lesson' | 'group'

const calls = async () => (await import('../../contract/calls.ts')).calls

export const eraseFlag = {
  erase: { kind: 'switch', summary: 'Delete permanently (cannot be undone)' },
} as const

/** Reads the record to delete; with `--erase` it may be in the trash already. */
export function readDeletedRecord(thing: DeletedThing) {
  return async (look: Lookup, given: Given): Promise<unknown> => {
    const reference = given.arguments[thing] ?? ''
    const { courses, lessons, groups } = await calls()
    const found = {
      course: () => look.one(courses.get, { courseId: reference }),
      lesson: () => look.one(lessons.get, { lessonId: reference }),
      group: () => look.one(groups.get, { groupId: reference }),
    }
    return (await inTrash(look, thing, given)) ?? found[thing]()
  }
}

/**
 * Names what is deleted with a course. Without `--force` throws a CommandError if that is more than the course
 * itself.
 */
export async function courseDeletionQuestion(look: Lookup, given: Given, found: unknown): Promise<Question> {
  const reference = given.arguments['course'] ?? ''
  const { lessons, enrollments, groups, grades, analytics } = await calls()
  if (isDeleted(found)) return questionOf(look, 'course', given, found, contentOf(found))
  const inCourse = { course_id: escapeReference(reference) }
  const lessonCount = await look.count(lessons.list, inCourse)
  const enrollmentCount = await look.count(enrollments.list, inCourse)
  const gradeCount = await look.count(grades.list, inCourse)
  // With a start date, the report contains only learners who were ever active in the course.
  const started = { ...inCourse, start_date: '1970-01-01', summary: false }
  const hasProgress = isAny(await look.count(analytics.learners, started))
  const content = [
    ...countOf(lessonCount, 'lesson'),
    ...countOf(enrollmentCount, 'enrolment'),
    ...(hasProgress ? ['learner progress'] : []),
    ...countOf(gradeCount, 'grade'),
    ...countOf(await look.count(groups.list, inCourse), 'group'),
  ]
  const hasLearners = hasProgress || isAny(gradeCount)
  if (given.flags['force'] !== true && (isAny(lessonCount) || hasLearners)) {
    const code = hasLearners ? 'has_progress' : 'has_lessons'
    const name = thingName(found, reference)
    throw new CommandError(code, 'conflict', `Course ${name} has ${joinWithAnd(content)}`, {
      hint: `To delete all of it: learnctl courses delete ${shellWord(reference)} --force`,
    })
  }
  return questionOf(look, 'course', given, found, content)
}

function countOf(some: Count | undefined, noun: string): string[] {
  return some && isAny(some) ? [pluralise(some.count, noun, some.isExact)] : []
}

export async function lessonDeletionQuestion(look: Lookup, given: Given, found: unknown): Promise<Question> {
  return questionOf(look, 'lesson', given, found, [])
}

export async function groupDeletionQuestion(look: Lookup, given: Given, found: unknown): Promise<Question> {
  if (isDeleted(found)) return questionOf(look, 'group', given, found, contentOf(found))
  const { groups } = await calls()
  const inGroup = { group_id: escapeReference(given.arguments['group'] ?? '') }
  const members = await look.count(groups.memberships, inGroup)
  return questionOf(look, 'group', given, found, countOf(members, 'member'))
}

export function severalDeletionQuestion(thing: DeletedThing) {
  return async (look: Lookup, { flags }: Given) => {
    const goes =
      flags['force'] === true ? 'Their lessons, enrolments, progress and grades go with them. ' : ''
    if (flags['erase'] === true) return { consequence: `${goes}This cannot be undone.`, irreversible: true }
    return (await look.recent(await deletedList(thing))) === undefined
      ? { consequence: `${goes}The platform may not be able to restore them.`, irreversible: true }
      : { consequence: `${goes}They can be restored for 30 days.` }
  }
}

async function questionOf(
  look: Lookup,
  thing: DeletedThing,
  { arguments: names, flags }: Given,
  found: unknown,
  content: readonly string[],
): Promise<Question> {
  const reference = names[thing] ?? ''
  const erases = flags['erase'] === true
  const goes = content.length > 0 ? ` with ${joinWithAnd(content)}` : ''
  const text = `${erases ? 'Permanently delete' : 'Delete'} ${thing} ${thingName(found, reference)}${goes}`
  const typed = String(valueAt(found, 'title') ?? valueAt(found, 'name') ?? reference)
  if (erases) return { text, consequence: 'This cannot be undone.', typed }
  return (await look.recent(await deletedList(thing))) === undefined
    ? { text, consequence: 'The platform may not be able to restore it.', typed }
    : { text, consequence: 'It can be restored for 30 days.' }
}

/** Returns the record to `--erase` from the trash; undefined if it is not there. */
async function inTrash(look: Lookup, thing: DeletedThing, { arguments: names, flags }: Given) {
  if (flags['erase'] !== true) return undefined
  return (await look.recent(await deletedList(thing)))?.find((entry) =>
    matchesReference(entry, names[thing] ?? ''),
  )
}

/**
 * Returns the success line of a deletion: what was deleted with it, and how to restore it; undefined if the platform
 * does not say that it can be restored.
 */
export function deletedLine(thing: DeletedThing) {
  return async (look: Lookup, { arguments: names, flags }: Given): Promise<string | undefined> => {
    const reference = names[thing] ?? ''
    if (flags['erase'] === true) return undefined
    const entries = await look.recent(await deletedList(thing))
    const entry = entries?.find((one) => matchesReference(one, reference))
    const until = valueAt(entry, 'restorableUntil')
    if (typeof until !== 'string') return undefined
    const content = contentOf(entry)
    const goes = content.length > 0 ? ` with ${joinWithAnd(content)}` : ''
    const command = `learnctl ${thing}s restore ${shellWord(reference)}`
    return `Deleted ${thing} ${thingName(entry, reference)}${goes}; restore until ${until.slice(0, 10)} with: ${command}`
  }
}

export function deletionAction(thing: DeletedThing) {
  return ({ arguments: names, flags }: Given): string =>
    `${flags['erase'] === true ? 'permanently delete' : 'delete'} ${thing} ${names[thing]}`
}

/** Without information about restoring. */
export function shortDeletedLine(thing: DeletedThing) {
  return (found: unknown, { arguments: names, flags }: Given): string =>
    `${flags['erase'] === true ? 'Permanently deleted' : 'Deleted'} ${thing} ${thingName(found, names[thing])}`
}

async function deletedList(thing: DeletedThing) {
  const { courses, lessons, groups } = await calls()
  return { course: courses.listDeleted, lesson: lessons.listDeleted, group: groups.listDeleted }[thing]
}

function isDeleted(found: unknown): boolean {
  return typeof valueAt(found, 'restorableUntil') === 'string'
}

function matchesReference(entry: unknown, reference: string): boolean {
  const own = reference.replace(/^ext:/, '')
  return valueAt(entry, 'id') === own || valueAt(entry, 'externalId') === own
}

function contentOf(entry: unknown): string[] {
  const counts = {
    ...{ lessons: 'lesson', enrollments: 'enrolment', progress: 'progress record', grades: 'grade' },
    ...{ groups: 'group', members: 'member' },
  }
  return Object.entries(counts).flatMap(([field, noun]) => {
    const count = valueAt(entry, field)
    return typeof count === 'number' && count > 0 ? [pluralise(count, noun)] : []
  })
}

/** Joins parts in words: `2 lessons, 1 enrolment and learner progress`. */
function joinWithAnd(parts: readonly string[]): string {
  const last = parts.at(-1) ?? ''
  return parts.length < 2 ? last : `${parts.slice(0, -1).join(', ')} and ${last}`
}

function isAny(some: Count | undefined): boolean {
  return some !== undefined && (some.count > 0 || !some.isExact)
}

const deletedFlag = 'deleted'

/**
 * Adds `--deleted` to a list, which then lists the trash: two operations, one command.
 *
 * @param noun plural noun for messages: `courses`
 */
export function withDeleted(noun: string, list: Command, deleted: Command): Command {
  const taken = new Set(deleted.flags?.map(({ name }) => name))
  const others = (list.flags ?? []).filter(({ name }) => !taken.has(name))
  return {
    ...list,
    alsoPrints: [`Deleted${noun.charAt(0).toUpperCase()}${noun.slice(1, -1)}[]`],
    flags: [
      ...(list.flags ?? []),
      {
        name: deletedFlag,
        kind: 'switch',
        summary: `List deleted ${noun}, which can be restored for 30 days; --since and --until are then about their deletion`,
      },
    ],
    run: async (context, given) => {
      if (given.flags[deletedFlag] !== true) return list.run(context, given)
      const refused = others.find(({ name }) => given.flags[name] !== undefined)
      if (refused) throw new UsageError(`--${refused.name} and --${deletedFlag} cannot be used together`)
      return deleted.run(context, given)
    },
  }
}
