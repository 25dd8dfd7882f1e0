import type * as z from 'zod'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { CourseRecord } from '../dataset/courses.ts'
import { moduleNames } from '../dataset/module-names.ts'
import { withKnownIds, withoutOwnId } from '../dataset/record.ts'
import { type Change, changesOf } from '../records/compare.ts'
import {
  attributesOf,
  canonical,
  type KeyedLesson,
  keyedLesson,
  LessonAttributes,
  matchLessons,
} from '../records/match-lessons.ts'
import type { CourseRecords } from './course-records.ts'
import { placesFor } from './lesson-sequence.ts'
import { type ShownCourse, shownRecords } from './shown-course.ts'

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
  /** Lessons that are absent from the file, as the API shows them: deleted if `prune`, else kept. */
  readonly absent: readonly JsonObject[]
  readonly prune: boolean
  /** Titles of modules to remove. */
  readonly removedModules: readonly string[]
}

interface Wanted extends KeyedLesson {
  readonly full: JsonObject
  /** Name of its module; null for none. */
  readonly module: string | null
}
interface Current extends KeyedLesson {
  readonly shown: JsonObject
}

/** Compares the records of a file with the existing course; `current` is null for a new one. */
export async function planCourse(
  { course, lessons }: CourseRecords,
  current: ShownCourse | null,
  prune: boolean,
): Promise<CoursePlan> {
  const before = current && (await shownRecords(current))
  const { status: wantedStatus, ...record } = course
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
  const steps = sequenceOf(wanted, there, matched).flatMap(({ lesson, move }): LessonStep[] => {
    const order = move ? { order: move.number } : {}
    const moves = move ? [{ field: 'order', from: move.from, to: move.to }] : []
    const same = 'shown' in lesson ? lesson : matched.get(lesson)
    if ('shown' in lesson || !same) {
      if (!('shown' in lesson)) {
        const { full, module } = lesson
        const place = { ...(module !== null && { module }), ...order }
        const body = { ...lesson.record, status: full['status'], ...place }
        return [{ action: 'create', record: full, current: null, changes: [], body }]
      }
      const { record, shown } = lesson
      return move ? [{ action: 'update', record, current: shown, changes: moves, body: order }] : []
    }
    const isMoved = lesson.moduleId !== same.moduleId
    const { module } = lesson
    const { body, changes } = changedLesson(lesson, same)
    const rename = { field: 'module', from: nameOf(same.moduleId), to: module }
    const all = [...changes, ...(isMoved ? [rename] : []), ...moves]
    if (all.length === 0) return []
    return [
      {
        action: 'update',
        record: lesson.full,
        current: same.shown,
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
    absent: there.filter((lesson) => !known.has(lesson)).map(({ shown }) => shown),
    prune,
    removedModules: modulesOf(current)
      .filter(({ id }) => !kept.has(id))
      .map(({ title }) => String(title)),
  }
}

/** True if the plan changes nothing. */
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

interface Move {
  /** Value of `order` to send. */
  readonly number: number
  /** Places among the lessons of the course, from 1. */
  readonly from: number
  readonly to: number
}

/**
 * Returns all lessons in the final order of the course, with the new place of each that moves. Lessons that are
 * absent from the file stay behind their predecessor.
 */
function sequenceOf(
  wanted: readonly Wanted[],
  there: readonly Current[],
  matched: ReadonlyMap<Wanted, Current>,
): { readonly lesson: Wanted | Current; readonly move: Move | undefined }[] {
  const inFile = new Map([...matched].map(([lesson, same]) => [same, lesson]))
  const sequence: (Wanted | Current)[] = [...wanted]
  for (const [index, lesson] of there.entries()) {
    if (inFile.has(lesson)) continue
    const before = there[index - 1]
    sequence.splice(before ? sequence.indexOf(inFile.get(before) ?? before) + 1 : 0, 0, lesson)
  }
  const currentOf = (lesson: Wanted | Current) => ('shown' in lesson ? lesson : matched.get(lesson))
  const now = new Map(there.map((lesson, index) => [lesson, index + 1]))
  const orders = sequence.map((lesson) => {
    const order = currentOf(lesson)?.shown['order']
    return typeof order === 'number' ? order : undefined
  })
  const numbers = placesFor(orders)
  return sequence.map((lesson, index) => {
    const number = numbers[index]
    const same = currentOf(lesson)
    const from = same ? (now.get(same) ?? 0) : 0
    return { lesson, move: number === undefined ? undefined : { number, from, to: index + 1 } }
  })
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
