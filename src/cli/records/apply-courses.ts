import { shellWord } from '../../codec/display-text.ts'
import type { JsonObject } from '../../codec/json-text.ts'
import type { Given } from '../command/command.ts'
import { confirm } from '../command/confirm.ts'
import type { Context } from '../command/context.ts'
import { externalKeyOf } from '../dataset/names.ts'
import { thingName } from '../operation/thing-name.ts'
import { CommandError } from '../terminal/errors.ts'
import { firstLines, pluralise } from '../terminal/format-text.ts'
import { writeStderr } from '../terminal/io.ts'
import type { Failure } from './apply-plan.ts'
import {
  type CoursePlan,
  coursePlanData,
  coursePlansOf,
  coursePlansText,
  isEmpty,
  keptNotes,
  lessonName,
} from './course-plan.ts'
import type { Declared } from './entries.ts'
import { type MakePlan, type Planned, planOf, readSaved } from './open-plan.ts'
import { type Applied, outcomeText, type PlanForm, printDiff, refusedError, runApply } from './run-apply.ts'
import { printValid } from './sources/academy.ts'
import { declaredCourses, readCourseFile, withTermKey } from './sources/course.ts'
import { idPrinter, sourceOf } from './write.ts'

const command = 'courses apply'

/** Makes courses match their files, or carries out a saved plan; asks for confirmation before deletions. */
export async function applyFiles(context: Context, given: Given, files: readonly string[]): Promise<void> {
  const { plan } = given.flags
  const makePlan =
    plan === undefined
      ? await plannerOf(context, files, { command, prune: given.flags['prune'] === true })
      : await readSaved(context, given, String(plan), command)
  await runApply(context, given, makePlan, {
    ...{ command, diff: 'learnctl courses diff -f', verb: 'delete', form, report },
    isRemoval: ({ kind }) => kind === 'delete',
  })
}

/** Throws ExitWith where they differ. */
export async function diffFiles(context: Context, files: readonly string[], prune: boolean): Promise<void> {
  const makePlan = await plannerOf(context, files, { command: 'courses diff', prune })
  await printDiff(context, 'courses diff', await makePlan(context), form)
}

export async function validateFiles(context: Context, files: readonly string[]): Promise<void> {
  await printValid(context, files, await readAll(context, files))
}

async function readAll({ io }: Context, files: readonly string[]): Promise<Declared> {
  const all = []
  for (const file of files) {
    all.push({ records: await readCourseFile(io, file), file: file === '-' ? 'Standard input' : file })
  }
  return declaredCourses(all)
}

async function plannerOf(
  context: Context,
  files: readonly string[],
  { command, prune }: { readonly command: string; readonly prune: boolean },
): Promise<MakePlan> {
  const declared = await readAll(context, files)
  const compare = planOf({ command, source: sourceOf(files) }, async ({ names }) => {
    for (const entry of declared.get('courses') ?? []) {
      entry.record = await withTermKey(names, entry.record)
    }
    return { declared, options: { label: null, prune, isOfCourses: true } }
  })
  return async (context) => {
    const planned = await compare(context)
    await requireOwnLessons(planned)
    return planned
  }
}

function isData({ output }: Context['settings']): boolean {
  return ['json', 'jsonl', 'yaml'].includes(output.value)
}

const form: PlanForm = {
  notes: ({ plan, declared }) => [...plan.notes, ...keptNotes(plan, declared)],
  counts({ actions }) {
    const changed = new Set(
      actions.map(({ entry, current, key, dataset }) =>
        dataset === 'courses' ? key : (entry?.record['courseId'] ?? current?.['courseId']),
      ),
    )
    const lessons = actions.filter(({ dataset }) => dataset === 'lessons').length
    return `${pluralise(changed.size, 'course')}, ${pluralise(lessons, 'lesson change')}`
  },
  async print({ output, settings }, planned) {
    const plans = await coursePlansOf(planned)
    await (isData(settings)
      ? output.document(plans.map(coursePlanData))
      : output.text(coursePlansText(plans)))
  },
  async confirm(context, planned, restored) {
    const { io, output, settings } = context
    const plans = await coursePlansOf(planned)
    if (!settings.quiet.value) await writeStderr(io, coursePlansText(plans))
    const lessons = plans.flatMap(({ deleted }) => deleted.map(lessonName))
    const modules = plans.flatMap(({ removedModules }) => removedModules)
    if (lessons.length + modules.length === 0) return
    if (!settings.yes.value) for (const text of restored) await output.note(text)
    const counts = [
      ...(lessons.length > 0 ? [pluralise(lessons.length, 'lesson')] : []),
      ...(modules.length > 0 ? [pluralise(modules.length, 'module')] : []),
    ].join(' and ')
    await confirm(context, `delete ${counts}`, async () => ({
      text: `Delete ${counts} (${[...lessons, ...modules].slice(0, 10).join(', ')})`,
      consequence:
        lessons.length === 0 ? 'Lessons in them are kept.' : 'Deleted lessons can be restored for 30 days.',
    }))
  },
  refusal,
}

/** An external id that another course has is a conflict. */
export function refusal(failures: readonly Failure[], others?: string) {
  const exit = failures[0]?.code === 'duplicate' ? 'conflict' : 'partial'
  return refusedError(failures, others, { exit, hasSkipInvalid: false })
}

async function report(context: Context, { planned, failures, done }: Applied): Promise<void> {
  const { output, settings } = context
  if (failures.length > 0) throw refusal(failures, outcomeText(done))
  const plans = await coursePlansOf(planned)
  const { names } = planned.reader
  names.forgetCourses()
  for (const plan of plans) {
    const { record, current } = plan
    const name = `course ${thingName(record)}`
    if (isEmpty(plan)) await output.done(`No changes to ${name}`)
    else await output.done(`${current ? 'Updated' : 'Created'} ${name}${lessonCounts(plan)}`)
    if (settings.quiet.value) {
      const shown = current ?? (await names.course(`ext:${record['externalId']}`))
      await idPrinter(context)?.([shown?.['id']])
    }
  }
  if (isData(settings)) await output.document(plans.map(coursePlanData))
}

function lessonCounts({ lessons, deleted }: CoursePlan): string {
  const created = lessons.filter(({ action }) => action === 'create').length
  const all = { created, updated: lessons.length - created, deleted: deleted.length }
  const counts = Object.entries(all).filter(([, count]) => count > 0)
  if (counts.length === 0) return ''
  return `: ${counts.map(([verb, count], index) => (index === 0 ? `${pluralise(count, 'lesson')} ${verb}` : `${count} ${verb}`)).join(', ')}`
}

const maxNamed = 20

/**
 * Throws a CommandError if a plan would take lessons from other courses, as after copying the file for the next term: the
 * external id of a lesson is unique in an academy.
 *
 * @param hint what to do (default: to copy the course)
 */
export async function requireOwnLessons(
  { plan, declared, reader: { names } }: Pick<Planned, 'plan' | 'declared' | 'reader'>,
  hint?: string,
): Promise<void> {
  const taken = plan.actions.filter(
    ({ dataset, changes }) => dataset === 'lessons' && changes.some(({ field }) => field === 'courseId'),
  )
  const [first] = taken
  if (!first) return
  const courseKey = first.entry?.record['courseId']
  const course = declared.get('courses')?.find(({ key }) => key === courseKey)?.record ?? {}
  const lessons = taken.filter(({ entry }) => entry?.record['courseId'] === courseKey)
  const named = new Map<unknown, JsonObject>()
  for (const { current } of lessons.slice(0, maxNamed)) {
    const { courseId, courseTitle } = current ?? {}
    if (named.has(courseId)) continue
    named.set(courseId, (await names.course(String(courseId))) ?? { id: courseId, title: courseTitle })
  }
  const [source = {}] = named.values()
  const from = shellWord(source['externalId'] ? `ext:${externalKeyOf(source)}` : String(source['id']))
  const [title, externalId] = [course['title'], course['externalId']].map((text) => shellWord(String(text)))
  const have = lessons.length === 1 ? 'has the external id of a lesson' : 'have external ids of lessons'
  throw new CommandError(
    'duplicate',
    'conflict',
    `${pluralise(lessons.length, 'lesson')} of course ${thingName(course)} ${have} of another course; nothing was sent`,
    {
      why: firstLines(
        lessons.map(
          ({ current }) =>
            `${current?.['externalId']}: lesson ${current?.['title']} of course ${thingName(named.get(current?.['courseId']))}`,
        ),
        maxNamed,
      ),
      hint:
        hint ??
        `To make a new course of that one: learnctl courses copy ${from} --title ${title} --external-id ${externalId}; or give these lessons external ids of their own`,
      details: lessons.map(({ entry, current }) => ({
        ...{ externalId: current?.['externalId'], title: entry?.record['title'] },
        ...{ lessonId: current?.['id'], courseId: current?.['courseId'], isDeleted: false },
      })),
    },
  )
}
