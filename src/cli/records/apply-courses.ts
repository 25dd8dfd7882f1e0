import type { Caller } from '../../client/caller.ts'
import { escapeHidden } from '../../codec/display-text.ts'
import { platformName } from '../../config/target.ts'
import { confirm } from '../command/confirm.ts'
import type { Context } from '../command/context.ts'
import { courses } from '../dataset/courses.ts'
import { findShown } from '../dataset/find.ts'
import { createNames } from '../dataset/names.ts'
import { thingName } from '../operation/thing-name.ts'
import { createFindingList, reportToWorkflow } from '../output/github.ts'
import { requireLearnctl } from '../session/learnctl-server.ts'
import { ExitWith, UsageError } from '../terminal/errors.ts'
import { pluralise } from '../terminal/format-text.ts'
import { writeStderr } from '../terminal/io.ts'
import { whileApplying } from './apply-lock.ts'
import { whereAllowed } from './carry-out.ts'
import { requireOwnLessons } from './course-conflicts.ts'
import {
  type CoursePlan,
  isEmpty,
  keptNote,
  lessonName,
  planCourse,
  planData,
  planFindings,
  planLines,
} from './course-plan.ts'
import { openWriting, sourceOf } from './execute.ts'
import { readSavedCourses, type SavedCourses, saveCourses } from './saved-courses.ts'
import { changedSince, type StagedCourses, stageCourses } from './send-course.ts'
import { type CourseRecords, readCourseFile } from './sources/course.ts'
import { readLessons, type ShownCourse, withTermKey } from './sources/shown-course.ts'
import { weightNotes } from './weight-notes.ts'

interface ApplyOptions {
  readonly prune: boolean
  /** Time to wait for another apply. */
  readonly waitLock: unknown
  /** File to save the plan to, in place of applying it. */
  readonly planOut?: string | undefined
  /** Saved plan to carry out, in place of files. */
  readonly plan?: string | undefined
}

interface Wanted extends Pick<SavedCourses, 'wanted' | 'prune'> {
  readonly requireSame?: SavedCourses['requireSame']
  readonly planOut: string | undefined
  readonly files: readonly string[]
}

/**
 * Applies course files or a saved plan: reads and compares everything first, prints the plans, and asks for
 * confirmation before deletions. Throws ExitWith if lessons were refused.
 */
export async function applyFiles(
  context: Context,
  files: readonly string[],
  { prune, waitLock, planOut, plan }: ApplyOptions,
): Promise<void> {
  const { io, session, settings } = context
  const target = platformName(session.target())
  const given =
    plan === undefined
      ? { wanted: await readAll(context, files), prune }
      : await readSavedCourses(io, plan, target)
  const wanted = { ...given, planOut, files: plan === undefined ? files : [plan] }
  // A dry run and a saved plan write nothing to the academy, so they need no lock.
  if (settings.dryRun.value || planOut !== undefined) return applyAll(context, wanted)
  await whileApplying(context, session, waitLock, (held) => applyAll(held, wanted))
}

/** Compares courses with their files, and prints what `applyFiles` would do. Throws ExitWith where they differ. */
export async function diffFiles(context: Context, files: readonly string[], prune: boolean): Promise<void> {
  const plans = await planAll(context, await context.session.caller(), await readAll(context, files), prune)
  await printPlans(context, plans)
  const findings = createFindingList()
  for (const [index, plan] of plans.entries()) {
    const file = files[index] ?? '-'
    for (const finding of planFindings(plan, file === '-' ? null : file)) findings.add(finding)
  }
  const counts = { courses: plans.length, differ: plans.filter((plan) => !isEmpty(plan)).length }
  await reportToWorkflow(context.io, { title: 'learnctl courses diff', counts, ...findings.found() })
  if (!plans.every(isEmpty)) throw new ExitWith('drift')
}

/** Reads and validates files without a platform. Throws a UsageError with every problem of a file and its line. */
export async function validateFiles(context: Context, files: readonly string[]): Promise<void> {
  const { io, output, settings } = context
  const wanted = await readAll(context, files)
  const lessons = wanted.reduce((sum, each) => sum + each.lessons.length, 0)
  const [first] = files
  const subject = files.length === 1 ? `${first} is` : `${pluralise(files.length, 'file')} are`
  const counts = { courses: wanted.length, lessons }
  if (isData(settings)) await output.document({ valid: true, files: [...files], ...counts })
  else {
    const text = `${pluralise(wanted.length, 'course')}, ${pluralise(lessons, 'lesson')}`
    await output.done(`${subject} valid: ${text}`)
  }
  await reportToWorkflow(io, { title: `${subject} valid`, counts, list: [], more: 0 })
}

async function planOf(
  context: Context,
  caller: Caller,
  records: CourseRecords,
  prune: boolean,
): Promise<CoursePlan> {
  const named = await withTermKey(createNames(caller, context.io.signal), records)
  const plan = await planCourse(named, await currentOf(context, caller, named), prune)
  return { ...plan, notes: await weightNotes({ caller, signal: context.io.signal }, plan) }
}

/** Throws a CommandError if the academy or a missing operation prevents the plan of a file. */
async function planAll(
  context: Context,
  caller: Caller,
  wanted: readonly CourseRecords[],
  prune: boolean,
): Promise<CoursePlan[]> {
  const { signal } = context.io
  await requireLearnctl(context.session, caller, 'comparing course files', signal)
  const plans: CoursePlan[] = []
  for (const records of wanted) plans.push(await planOf(context, caller, records, prune))
  await requireOwnLessons({ caller, signal }, plans)
  return plans
}

function isData({ output }: Context['settings']): boolean {
  return ['json', 'jsonl', 'yaml'].includes(output.value)
}

function linesOf(plans: readonly CoursePlan[]): string {
  return plans
    .flatMap(planLines)
    .map((line) => `${escapeHidden(line)}\n`)
    .join('')
}

async function printPlans({ settings, output }: Context, plans: readonly CoursePlan[]): Promise<void> {
  await (isData(settings) ? output.document(plans.map(planData)) : output.text(linesOf(plans)))
  await noteKept(output, plans)
}

async function noteKept(output: Context['output'], plans: readonly CoursePlan[]): Promise<void> {
  for (const plan of plans) {
    const note = keptNote(plan)
    for (const text of [...plan.notes, ...(note === null ? [] : [note])]) await output.note(text)
  }
}

async function applyAll(
  context: Context,
  { wanted, files, prune, planOut, requireSame }: Wanted,
): Promise<void> {
  const { io, session, settings, output } = context
  const writing = await openWriting(context)
  const { caller } = writing
  const plans = await planAll(context, caller, wanted, prune)
  requireSame?.(plans)
  if (planOut !== undefined) {
    await saveCourses(io, planOut, wanted, plans, { target: platformName(session.target()), prune })
    await noteKept(output, plans)
    const changed = plans.filter((plan) => !isEmpty(plan))
    const lessons = changed.reduce((sum, plan) => sum + lessonChanges(plan), 0)
    const counts = `${pluralise(changed.length, 'course')}, ${pluralise(lessons, 'lesson change')}`
    return output.done(`Saved the plan to ${planOut}: ${counts}`)
  }
  const change = { command: 'courses apply', source: sourceOf(files) }
  const isChanged = !plans.every(isEmpty)
  if (settings.dryRun.value) {
    await printPlans(context, plans)
    if (isChanged) await noteTrial(context, () => stageCourses(writing, change, plans))
    return
  }
  if (!settings.quiet.value && isChanged) await writeStderr(io, linesOf(plans))
  await noteKept(output, plans)
  const ids = isChanged ? await sendAll(context, await stageCourses(writing, change, plans), plans) : []
  for (const [index, plan] of plans.entries()) await printApplied(context, plan, ids[index])
  if (isData(settings)) await output.document(plans.map(planData))
}

/** Says what would be restored, and drops the writes. Throws a CommandError for what would be refused. */
async function noteTrial({ output }: Context, stage: () => Promise<StagedCourses>): Promise<void> {
  const staged = await whereAllowed(stage)
  if (!staged) return
  for (const text of await staged.trial()) await output.note(text)
  await staged.drop()
}

/** Tries the writes of plans, asks for confirmation of deletions, and sends them. Returns the ids of the courses. */
async function sendAll(
  context: Context,
  staged: StagedCourses,
  plans: readonly CoursePlan[],
): Promise<readonly string[]> {
  try {
    for (const text of await staged.trial()) await context.output.note(text)
    await confirmDeletion(context, plans)
    return await staged.send()
  } catch (error) {
    throw changedSince(error, plans)
  }
}

async function printApplied({ output, settings }: Context, plan: CoursePlan, id: unknown): Promise<void> {
  const name = `course ${thingName(plan.record)}`
  if (isEmpty(plan)) await output.done(`No changes to ${name}`)
  else await output.done(`${plan.current ? 'Updated' : 'Created'} ${name}${lessonCounts(plan)}`)
  if (settings.quiet.value) await output.text(`${escapeHidden(String(plan.current?.['id'] ?? id))}\n`)
}

async function readAll({ io }: Context, files: readonly string[]): Promise<CourseRecords[]> {
  const found = new Map<unknown, string>()
  const wanted: CourseRecords[] = []
  for (const file of files) {
    const records = await readCourseFile(io, file)
    const { externalId } = records.course
    const before = found.get(externalId)
    if (before !== undefined) {
      throw new UsageError(`${before} and ${file} are both course ${externalId}`, { code: 'duplicate' })
    }
    found.set(externalId, file)
    wanted.push(records)
  }
  return wanted
}

/** Returns null for a course that the academy does not have yet. */
async function currentOf(
  { io: { signal } }: Context,
  caller: Caller,
  { course: record }: CourseRecords,
): Promise<ShownCourse | null> {
  const course = await findShown(caller, courses, record, signal)
  return course && { course, lessons: await readLessons(caller, course, signal) }
}

async function confirmDeletion(context: Context, plans: readonly CoursePlan[]): Promise<void> {
  const lessons = plans.flatMap(({ absent, prune }) => (prune ? absent.map(lessonName) : []))
  const modules = plans.flatMap(({ removedModules }) => removedModules)
  if (lessons.length + modules.length === 0) return
  const parts = [
    ...(lessons.length > 0 ? [pluralise(lessons.length, 'lesson')] : []),
    ...(modules.length > 0 ? [pluralise(modules.length, 'module')] : []),
  ]
  await confirm(context, `delete ${parts.join(' and ')}`, async () => ({
    text: `Delete ${parts.join(' and ')} (${[...lessons, ...modules].slice(0, 10).join(', ')})`,
    consequence: consequenceOf(context, lessons.length),
  }))
}

function consequenceOf({ session }: Context, lessons: number): string {
  if (lessons === 0) return 'Lessons in them are kept.'
  return session.target().kind === 'local'
    ? 'Deleted lessons can be restored for 30 days.'
    : 'The platform may not be able to restore deleted lessons.'
}

function lessonChanges({ steps, prune, absent }: CoursePlan): number {
  return steps.length + (prune ? absent.length : 0)
}

function lessonCounts({ steps, prune, absent }: CoursePlan): string {
  const created = steps.filter(({ action }) => action === 'create').length
  const all = { created, updated: steps.length - created, deleted: prune ? absent.length : 0 }
  const counts = Object.entries(all).filter(([, count]) => count > 0)
  if (counts.length === 0) return ''
  return `: ${counts.map(([verb, count], index) => (index === 0 ? `${pluralise(count, 'lesson')} ${verb}` : `${count} ${verb}`)).join(', ')}`
}
