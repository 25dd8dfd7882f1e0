import { shellWord } from '../../codec/display-text.ts'
import { escapeReference } from '../../codec/reference.ts'
import type { Call } from '../../contract/calls.ts'
import { valueAt } from '../../tables/column.ts'
import type { Command, Given } from '../command/command.ts'
import type { Question } from '../command/confirm.ts'
import type { FieldFlags } from '../command/flag.ts'
import type { Count, Lookup } from '../command/lookup.ts'
import { call } from '../operation/operation-command.ts'
import type { OperationSpec } from '../operation/operation-spec.ts'
import { thingName } from '../operation/thing-name.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import { capitalise, pluralise } from '../terminal/format-text.ts'

type DeletedThing = 'course' | 'lesson' | 'group'

const calls = async () => (await import('../../contract/calls.ts')).calls

async function operationsOf(thing: DeletedThing) {
  return (await calls())[`${thing}s` as const]
}

export const eraseFlag = {
  erase: { kind: 'switch', summary: 'Delete permanently (cannot be undone)' },
} as const

/** `--erase` deletes permanently. */
export function moveToTrash(thing: DeletedThing) {
  return {
    description: `A local academy keeps a deleted ${thing} for 30 days; ${thing}s restore brings it back.`,
    query: eraseFlag,
    destroys: {
      action: ({ arguments: names, flags }) =>
        `${flags['erase'] === true ? 'permanently delete' : 'delete'} ${thing} ${names[thing]}`,
      // With --erase it may be in the trash already.
      read: async (look, given) =>
        (await inTrash(look, thing, given)) ??
        look.one((await operationsOf(thing)).get, { [`${thing}Id`]: given.arguments[thing] ?? '' }),
      question: (look, given, found) => deletionQuestion(look, thing, given, found),
      several: (look, given) => severalDeletionQuestion(look, thing, given),
    },
    done: (found, { arguments: names, flags }) =>
      `${flags['erase'] === true ? 'Permanently deleted' : 'Deleted'} ${thing} ${thingName(found, names[thing])}`,
    readDone: (look, given) => deletedLine(look, thing, given),
  } satisfies Partial<OperationSpec<Call>>
}

const contentReaders = { course: courseContent, lesson: async () => [], group: groupContent }

async function deletionQuestion(
  look: Lookup,
  thing: DeletedThing,
  given: Given,
  found: unknown,
): Promise<Question> {
  const reference = given.arguments[thing] ?? ''
  const erases = given.flags['erase'] === true
  const isDeleted = typeof valueAt(found, 'restorableUntil') === 'string'
  const content = isDeleted ? contentOf(found) : await contentReaders[thing](look, given, found)
  const goes = content.length > 0 ? ` with ${joinWithAnd(content)}` : ''
  const text = `${erases ? 'Permanently delete' : 'Delete'} ${thing} ${thingName(found, reference)}${goes}`
  const typed = String(valueAt(found, 'title') ?? valueAt(found, 'name') ?? reference)
  if (erases) return { text, consequence: 'This cannot be undone.', typed }
  return (await trash(look, thing)) === undefined
    ? { text, consequence: 'The platform may not be able to restore it.', typed }
    : { text, consequence: 'It can be restored for 30 days.' }
}

/** Throws a CommandError without `--force` if more than the course itself is deleted. */
async function courseContent(look: Lookup, given: Given, found: unknown): Promise<readonly string[]> {
  const reference = given.arguments['course'] ?? ''
  const { lessons, enrollments, groups, grades, analytics } = await calls()
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
  return content
}

async function groupContent(look: Lookup, given: Given): Promise<readonly string[]> {
  const { memberships } = (await calls()).groups
  const group = escapeReference(given.arguments['group'] ?? '')
  return countOf(await look.count(memberships, { group_id: group }), 'member')
}

function countOf(some: Count | undefined, noun: string): string[] {
  return some && isAny(some) ? [pluralise(some.count, noun, some.isExact)] : []
}

async function severalDeletionQuestion(look: Lookup, thing: DeletedThing, { flags }: Given) {
  const goes = flags['force'] === true ? 'Their lessons, enrolments, progress and grades go with them. ' : ''
  if (flags['erase'] === true) return { consequence: `${goes}This cannot be undone.`, irreversible: true }
  return (await trash(look, thing)) === undefined
    ? { consequence: `${goes}The platform may not be able to restore them.`, irreversible: true }
    : { consequence: `${goes}They can be restored for 30 days.` }
}

async function inTrash(look: Lookup, thing: DeletedThing, { arguments: names, flags }: Given) {
  if (flags['erase'] !== true) return undefined
  return (await trash(look, thing))?.find((entry) => matchesReference(entry, names[thing] ?? ''))
}

/** Undefined if the platform does not say that the record can be restored. */
async function deletedLine(
  look: Lookup,
  thing: DeletedThing,
  { arguments: names, flags }: Given,
): Promise<string | undefined> {
  const reference = names[thing] ?? ''
  if (flags['erase'] === true) return undefined
  const entries = await trash(look, thing)
  const entry = entries?.find((one) => matchesReference(one, reference))
  const until = valueAt(entry, 'restorableUntil')
  if (typeof until !== 'string') return undefined
  const content = contentOf(entry)
  const goes = content.length > 0 ? ` with ${joinWithAnd(content)}` : ''
  const command = `learnctl ${thing}s restore ${shellWord(reference)}`
  return `Deleted ${thing} ${thingName(entry, reference)}${goes}; restore until ${until.slice(0, 10)} with: ${command}`
}

/** Returns the records that were deleted last; undefined if the platform does not show them. */
async function trash(look: Lookup, thing: DeletedThing): Promise<readonly unknown[] | undefined> {
  return look.recent((await operationsOf(thing)).listDeleted)
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

function joinWithAnd(parts: readonly string[]): string {
  const last = parts.at(-1) ?? ''
  return parts.length < 2 ? last : `${parts.slice(0, -1).join(', ')} and ${last}`
}

function isAny(some: Count | undefined): boolean {
  return some !== undefined && (some.count > 0 || !some.isExact)
}

const deletedFlag = 'deleted'

interface DeletedList {
  readonly filters: FieldFlags
  readonly columns: readonly string[]
}

/** Adds `--deleted` to a list, which then lists the trash: two operations, one command. */
export function withDeleted(thing: DeletedThing, list: Command, { filters, columns }: DeletedList): Command {
  const deleted = call({
    name: 'list',
    summary: `List deleted ${thing}s`,
    operation: async () => (await operationsOf(thing)).listDeleted,
    query: filters,
    columns,
  })
  const taken = new Set(deleted.flags?.map(({ name }) => name))
  const others = (list.flags ?? []).filter(({ name }) => !taken.has(name))
  return {
    ...list,
    alsoPrints: [`Deleted${capitalise(thing)}[]`],
    flags: [
      ...(list.flags ?? []),
      {
        name: deletedFlag,
        kind: 'switch',
        summary: `List deleted ${thing}s, which can be restored for 30 days; --since and --until are then about their deletion`,
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
