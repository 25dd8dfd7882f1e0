import type * as z from 'zod'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { withKnownIds } from '../../contract/known-ids.ts'
import { placeLessons } from '../../contract/lesson-places.ts'
import { moduleNames } from '../../contract/module-names.ts'
import { CourseRecord } from '../dataset/courses.ts'
import { withoutOwnId } from '../dataset/record.ts'
import { changeLines } from '../operation/change-lines.ts'
import { thingName } from '../operation/thing-name.ts'
import type { Finding } from '../terminal/errors.ts'
import { pluralise } from '../terminal/format-text.ts'
import { type Change, changesOf } from './compare.ts'
import {
  attributesOf,
  canonical,
  type KeyedLesson,
  keyedLesson,
  LessonAttributes,
  matchLessons,
} from './lessons.ts'
import type { CourseRecords } from './sources/course.ts'
import { type ShownCourse, shownRecords } from './sources/shown-course.ts'

/** A lesson to create or update. */
export interface LessonStep {
  readonly action: 'create' | 'update'
  readonly record: JsonObject
  /** As the API shows it; null for a new one. */
  readonly current: JsonObject | null
  readonly changes: readonly Change[]
  /** Fields to send; the module is absent if the lesson stays in it. */
  readonly body: JsonObject
}

/** Changes that make a course match its file. */
export interface CoursePlan {
  readonly record: JsonObject
  /** As the API shows it; null for a new one. */
  readonly current: JsonObject | null
  readonly changes: readonly Change[]
  /** Fields of the course to send, without the status. */
  readonly body: JsonObject
  /** Final status; null to leave it unchanged. */
  readonly status: string | null
  /** Steps in the order of the lessons in the course. */
  readonly steps: readonly LessonStep[]
  /** The lessons of the file in their order; without an id a new one. */
  readonly sequence: readonly { readonly id?: unknown; readonly record: JsonObject }[]
  /** Lessons that are absent from the file, as the API shows them: deleted if `prune`, else kept. */
  readonly absent: readonly JsonObject[]
  readonly prune: boolean
  /** Titles of modules to remove. */
  readonly removedModules: readonly string[]
  /** Warnings about the changes, such as weights without an item. */
  readonly notes: readonly string[]
}

interface Wanted extends KeyedLesson {
  readonly full: JsonObject
  /** Name of its module; null for none. */
  readonly module: string | null
}
interface Current extends KeyedLesson {
  readonly shown: JsonObject
}

/** `current` is null for a course that does not exist yet. */
export async function planCourse(
  { course, lessons }: CourseRecords,
  current: ShownCourse | null,
  prune: boolean,
): Promise<CoursePlan> {
  const before = current && (await shownRecords(current))
  const { status: wantedStatus, term = before?.course['term'], ...others } = course
  const record: JsonObject = { ...others, ...(term !== undefined && { term }) }
  const shownStatus = current ? (current.course['status'] ?? null) : 'draft'
  const status = textOrNull(wantedStatus) ?? textOrNull(shownStatus)
  const { changed, changes } = compared('courses', CourseRecord, record, before?.course ?? {})
  const modules = withKnownIds(record['modules'], current?.course['modules'] ?? [], ({ title }) => title)
  const moduleIds = (Array.isArray(modules) ? modules : []).map((module: JsonObject) => module['id'])
  const body = withoutOwnId(
    { ...changed, ...(changed['modules'] !== undefined && { modules }) },
    current?.course ?? null,
  )

  const names = { now: moduleNames(current?.course['modules']), next: moduleNames(record['modules']) }
  const wantedPlaces = new Map(names.next.map((name, index) => [name, index]))
  const wanted = lessons.map((full): Wanted => {
    const name = full['module']
    const place = typeof name === 'string' ? (wantedPlaces.get(name) ?? null) : null
    const moduleId = place === null ? null : moduleIds[place]
    return { full, ...keyedLesson(full, moduleId), module: place === null ? null : String(name) }
  })
  const there = (before?.lessons ?? []).map((lesson, index): Current => {
    const shown = current?.lessons[index] ?? {}
    return { shown, ...keyedLesson(lesson, shown['moduleId'] ?? null) }
  })
  const matched = matchLessons(wanted, there)
  const known = new Set(matched.values())
  const ids = modulesOf(current).map(({ id }) => id)
  const nameOf = (id: unknown) => names.now[ids.indexOf(id)] ?? null
  const steps = placeLessons(wanted, there, matched).flatMap(({ wanted, current, move }): LessonStep[] => {
    const order = move ? { order: move.number } : {}
    const moves = move ? [{ field: 'order', from: move.from, to: move.to }] : []
    if (wanted === null) {
      const { record, shown } = current
      return move ? [{ action: 'update', record, current: shown, changes: moves, body: order }] : []
    }
    const { full, record, module, moduleId } = wanted
    if (!current) {
      const body = { ...record, status: full['status'], ...(module !== null && { module }), ...order }
      return [{ action: 'create', record: full, current: null, changes: [], body }]
    }
    const isMoved = moduleId !== current.moduleId
    const { body, changes } = changedLesson(wanted, current)
    const rename = { field: 'module', from: nameOf(current.moduleId), to: module }
    const all = [...changes, ...(isMoved ? [rename] : []), ...moves]
    if (all.length === 0) return []
    return [
      {
        action: 'update',
        record: full,
        current: current.shown,
        changes: all,
        body: { ...body, ...(isMoved && { module }), ...order },
      },
    ]
  })
  const kept = new Set(moduleIds)
  return {
    record,
    current: current?.course ?? null,
    changes: current ? [...changes, ...statusChange(current.course, status)] : [],
    body,
    status,
    steps,
    sequence: wanted.map((lesson) => ({ id: matched.get(lesson)?.shown['id'], record: lesson.full })),
    absent: there.filter((lesson) => !known.has(lesson)).map(({ shown }) => shown),
    prune,
    removedModules: modulesOf(current)
      .filter(({ id }) => !kept.has(id))
      .map(({ title }) => String(title)),
    notes: [],
  }
}

export function isEmpty({ current, changes, steps, absent, prune }: CoursePlan): boolean {
  return current !== null && changes.length === 0 && steps.length === 0 && !(prune && absent.length > 0)
}

function changedLesson({ full, record }: Wanted, { record: before }: Current) {
  const { changed, changes } = compared('lessons', LessonAttributes, attributesOf(full), before)
  // A field that the file omits stays: a lesson keeps its external id.
  const isNamed = record['externalId'] !== undefined
  const { externalId, ...others } = changed
  const named = isNamed && externalId !== undefined ? { externalId } : {}
  return {
    body: { ...others, ...named },
    changes: changes.filter(({ field }) => isNamed || field !== 'externalId'),
  }
}

/** Returns the fields that differ, and their changes as whole values; an absent value means the default. */
function compared(
  name: 'courses' | 'lessons',
  schema: z.ZodObject,
  wanted: JsonObject,
  before: JsonObject,
): { readonly changed: JsonObject; readonly changes: Change[] } {
  const differing = changesOf({ name, schema }, wanted, before).map(({ field }) => field.split('.', 1)[0])
  const fields = Object.keys(schema.shape).filter((field) => differing.includes(field))
  const [then, now] = [canonical(schema, before), canonical(schema, wanted)]
  return {
    changed: Object.fromEntries(fields.map((field) => [field, wanted[field]])),
    changes: fields.map((field) => ({ field, from: then[field], to: now[field] })),
  }
}

function statusChange({ status: from }: JsonObject, to: string | null): Change[] {
  return to === null || from === to ? [] : [{ field: 'status', from, to }]
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

function modulesOf(current: ShownCourse | null): readonly JsonObject[] {
  const modules = current?.course['modules']
  return Array.isArray(modules) ? modules.filter(isJsonObject) : []
}

/** Returns the lines of a plan for a terminal: `+` is created, `~` changed, `-` deleted. */
export function planLines(plan: CoursePlan): readonly string[] {
  const { current, record, changes, steps, absent, prune } = plan
  const course = `course ${thingName(record)}`
  if (isEmpty(plan)) return [`No changes to ${course}`]
  return [
    current === null ? `+ ${course}` : `~ ${course}`,
    ...indentedChanges(changes, '    '),
    ...steps.flatMap(({ action, record, changes }) => [
      `  ${action === 'create' ? '+' : '~'} lesson ${lessonName(record)}`,
      ...indentedChanges(changes, '      '),
    ]),
    ...(prune ? absent.map((lesson) => `  - lesson ${lessonName(lesson)}`) : []),
  ]
}

/** Returns a note on lessons that are absent from the file and kept; null if there are none. */
export function keptNote({ absent, prune, record }: CoursePlan): string | null {
  if (prune || absent.length === 0) return null
  const names = absent.slice(0, 10).map((lesson) => lessonName(lesson))
  const rest = absent.length > names.length ? ` and ${absent.length - names.length} more` : ''
  const count = pluralise(absent.length, 'lesson')
  return `${count} of course ${thingName(record)} ${absent.length === 1 ? 'is' : 'are'} not in the file and will be kept: ${names.join(', ')}${rest}; --prune deletes ${absent.length === 1 ? 'it' : 'them'}`
}

export function planData(plan: CoursePlan): JsonObject {
  const { current, record, changes, steps, absent, prune } = plan
  const named = ({ externalId = null, title }: JsonObject) => ({ externalId, title })
  return {
    action: current === null ? 'create' : isEmpty(plan) ? 'none' : 'update',
    ...named(record),
    changes,
    lessons: [
      ...steps.map(({ action, record, changes }) => ({ action, ...named(record), changes })),
      ...absent.map((lesson) => ({ action: prune ? 'delete' : 'keep', ...named(lesson), changes: [] })),
    ],
  }
}

/** `file` is null for standard input. */
export function planFindings(plan: CoursePlan, file: string | null): Finding[] {
  const { current, record, changes, steps, absent, prune } = plan
  const said = (verb: string, name: string, changes: readonly Change[]): Finding => {
    const fields = [...new Set(changes.map(({ field }) => field))].join(', ')
    return { level: 'notice', file, line: 0, text: `${verb} ${name}${fields === '' ? '' : `: ${fields}`}` }
  }
  const isChanged = current === null || changes.length > 0
  return [
    ...(isChanged ? [said(current ? 'Changes' : 'Creates', `course ${thingName(record)}`, changes)] : []),
    ...steps.map(({ action, record, changes }) =>
      said(action === 'create' ? 'Creates' : 'Changes', `lesson ${lessonName(record)}`, changes),
    ),
    ...(prune ? absent : []).map((lesson) => said('Deletes', `lesson ${lessonName(lesson)}`, [])),
  ]
}

/** Returns `Waves (waves)`, or the title alone of a lesson without an external id. */
export function lessonName({ title, externalId }: JsonObject): string {
  return typeof externalId === 'string' ? `${title} (${externalId})` : String(title)
}

const planWidth = 80

function indentedChanges(changes: readonly Change[], indent: string): string[] {
  return changes.flatMap(({ field, from, to }) =>
    changeLines(field, from, to, planWidth - indent.length).map((line) => `${indent}${line}`.trimEnd()),
  )
}
