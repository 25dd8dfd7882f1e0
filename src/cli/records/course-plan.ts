import type * as z from 'zod'
import { escapeHidden } from '../../codec/display-text.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { CourseRecord, courses, lessons, nextModuleNames } from '../dataset/courses.ts'
import { changeLines } from '../operation/differences.ts'
import { thingName } from '../operation/thing-name.ts'
import { firstNames, pluralise } from '../terminal/format-text.ts'
import type { Change } from './compare.ts'
import type { Declared } from './entries.ts'
import { attributesOf, canonical, LessonAttributes } from './lessons.ts'
import type { Action, Plan, Undeclared } from './plan.ts'
import { namesOf } from './sources/course.ts'

export interface CoursePlan {
  readonly record: JsonObject
  /** As the API shows it; null for a new one. */
  readonly current: JsonObject | null
  readonly changes: readonly Change[]
  readonly lessons: readonly {
    readonly action: 'create' | 'update'
    readonly record: JsonObject
    readonly changes: readonly Change[]
  }[]
  /** Lessons to delete, as the API shows them. */
  readonly deleted: readonly JsonObject[]
  /** Lessons that the file lacks. */
  readonly kept: readonly Undeclared[]
  /** Titles of modules to remove. */
  readonly removedModules: readonly string[]
}

export async function coursePlansOf({
  plan,
  declared,
}: {
  readonly plan: Plan
  readonly declared: Declared
}): Promise<readonly CoursePlan[]> {
  const actions = [...plan.kept, ...plan.actions]
  const byCourse = new Map(
    actions.filter(({ dataset }) => dataset === 'courses').map((each) => [each.key, each]),
  )
  const inLessons = plan.actions.filter(({ dataset }) => dataset === 'lessons')
  const written = Map.groupBy(inLessons, ({ entry }) => entry?.record['courseId'])
  const deleted = Map.groupBy(written.get(undefined) ?? [], ({ current }) => current?.['courseId'])
  const kept = Map.groupBy(plan.undeclared, ({ course }) => course)
  return Promise.all(
    (declared.get('courses') ?? []).map(async ({ key, record }) => {
      const course = byCourse.get(key)
      const current = course?.current ?? null
      const steps = (written.get(key) ?? []).toSorted((one, other) => orderOf(one) - orderOf(other))
      return {
        record,
        current,
        changes: course ? await wholeChanges(CourseRecord, course) : [],
        lessons: await Promise.all(
          steps.map(async (step) => ({
            action: step.current ? ('update' as const) : ('create' as const),
            record: step.entry?.record ?? {},
            changes: await wholeChanges(LessonAttributes, step),
          })),
        ),
        deleted: (deleted.get(current?.['id']) ?? []).flatMap(({ current }) => (current ? [current] : [])),
        kept: kept.get(key) ?? [],
        removedModules: removedModules(record, current),
      }
    }),
  )
}

function orderOf({ entry }: Action): number {
  return Number(entry?.record['order'])
}

function removedModules({ modules }: JsonObject, current: JsonObject | null): string[] {
  const names = nextModuleNames(modules, current?.['modules'])
  const all = current?.['modules']
  const removed = Array.isArray(all) ? all.filter(isJsonObject).filter(({ id }) => !names.has(id)) : []
  return removed.map(({ title }) => String(title))
}

/** Fields whose changes are those of the plan, behind the others. */
const ownFields = { courses: ['status'], lessons: ['module', 'order'] }

/** Returns the changes of an update as whole values; an absent value means the default. */
async function wholeChanges(
  schema: z.ZodObject,
  { dataset, entry, current, changes }: Action,
): Promise<readonly Change[]> {
  if (!entry || !current || changes.length === 0) return []
  const isLesson = dataset === 'lessons'
  const shown = await (isLesson ? lessons : courses).toRecord(current, namesOf({}))
  const [then, now] = [shown, entry.record].map((record) => canonical(schema, attributesOf(record)))
  const own = ownFields[isLesson ? 'lessons' : 'courses']
  const changed = new Set(changes.map(({ field }) => field.split('.', 1)[0]))
  const fields = Object.keys(schema.shape).filter((field) => changed.has(field) && !own.includes(field))
  return [
    ...fields.map((field) => ({ field, from: then?.[field], to: now?.[field] })),
    ...own.flatMap((field) => changes.filter((change) => change.field === field)),
  ]
}

export function isEmpty({ current, changes, lessons, deleted }: CoursePlan): boolean {
  return current !== null && changes.length + lessons.length + deleted.length === 0
}

/** `+` is created, `~` changed, `-` deleted. */
export function coursePlansText(plans: readonly CoursePlan[]): string {
  return plans
    .flatMap(planLines)
    .map((line) => `${escapeHidden(line)}\n`)
    .join('')
}

function planLines(plan: CoursePlan): readonly string[] {
  const { current, record, changes, lessons, deleted } = plan
  const course = `course ${thingName(record)}`
  if (isEmpty(plan)) return [`No changes to ${course}`]
  return [
    current === null ? `+ ${course}` : `~ ${course}`,
    ...indentedChanges(changes, '    '),
    ...lessons.flatMap(({ action, record, changes }) => [
      `  ${action === 'create' ? '+' : '~'} lesson ${lessonName(record)}`,
      ...indentedChanges(changes, '      '),
    ]),
    ...deleted.map((lesson) => `  - lesson ${lessonName(lesson)}`),
  ]
}

const planWidth = 80

function indentedChanges(changes: readonly Change[], indent: string): string[] {
  return changes.flatMap(({ field, from, to }) =>
    changeLines(field, from, to, planWidth - indent.length).map((line) => `${indent}${line}`.trimEnd()),
  )
}

/** Returns notes on lessons that are absent from a file and kept. */
export function keptNotes({ undeclared }: Plan, declared: Declared): string[] {
  const courses = new Map(declared.get('courses')?.map(({ key, record }) => [key, record]))
  return [...Map.groupBy(undeclared, ({ course }) => course)].map(([course, kept]) => {
    const [are, them] = kept.length === 1 ? ['is', 'it'] : ['are', 'them']
    return `${pluralise(kept.length, 'lesson')} of course ${thingName(courses.get(course))} ${are} not in the file and will be kept: ${firstNames(kept.map(lessonName))}; --prune deletes ${them}`
  })
}

/** Returns a plan as data, the public `CoursePlan`. */
export function coursePlanData(plan: CoursePlan): JsonObject {
  const { current, record, changes, lessons, deleted, kept } = plan
  const named = ({ externalId = null, title }: { externalId?: unknown; title?: unknown }) => ({
    externalId,
    title,
  })
  return {
    action: current === null ? 'create' : isEmpty(plan) ? 'none' : 'update',
    ...named(record),
    changes,
    lessons: [
      ...lessons.map(({ action, record, changes }) => ({ action, ...named(record), changes })),
      ...deleted.map((lesson) => ({ action: 'delete', ...named(lesson), changes: [] })),
      ...kept.map((lesson) => ({ action: 'keep', ...named(lesson), changes: [] })),
    ],
  }
}

/** `Waves (waves)`, or the title alone of a lesson without an external id. */
export function lessonName({ title, externalId }: { title?: unknown; externalId?: unknown }): string {
  return typeof externalId === 'string' ? `${title} (${externalId})` : String(title)
}
