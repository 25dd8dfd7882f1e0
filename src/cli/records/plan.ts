import type { ChalkInstance } from 'chalk'
import { escapeHidden } from '../../codec/display-text.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { changeLines } from '../operation/differences.ts'
import { maxFindings, reportToWorkflow } from '../output/github.ts'
import type { Finding } from '../terminal/errors.ts'
import { firstLines, firstNames, pluralise } from '../terminal/format-text.ts'
import type { Change } from './compare.ts'
import { type Entry, type Part, type Place, parts, placeText, recordText } from './entries.ts'
import { keyText } from './identity.ts'

export interface PlanOptions {
  /** `managedBy` of new records; null for none. */
  readonly label: string | null
  /** Removes labelled records that are not declared, in the parts that the files have. */
  readonly prune: boolean
  /** Parts whose removed records are closed: users suspended, courses archived. Others are deleted. */
  readonly closes?: readonly Part[]
  /** Parts in which `prune` removes nothing, such as where the files have only the changes. */
  readonly keeps?: readonly Part[]
  /** Users with this role keep their role and status, and are not removed. */
  readonly protectedRole?: string
  /** Keys of the courses in which `prune` removes records; by default everywhere. */
  readonly courses?: readonly string[]
  /** For course files: `prune` deletes all undeclared lessons, whatever their label, and nothing else. */
  readonly isOfCourses?: boolean
  /** Leaves out records that refer to unknown ones, with a note, instead of refusing all. */
  readonly skipsUnknown?: boolean
}

export interface Action {
  readonly dataset: Part
  readonly kind: 'create' | 'update' | 'delete'
  readonly key: string
  /** Null for a record to delete. */
  readonly entry: Entry | null
  /** Null for a new one. */
  readonly current: JsonObject | null
  readonly changes: readonly Change[]
}

export interface Plan {
  /** Ordered by part; within a part so that each name is free when it is needed. */
  readonly actions: readonly Action[]
  readonly unchanged: number
  readonly notes: readonly string[]
  /**
   * Records that match and that the plan names: closed ones, which take writes while it is carried out, and the courses of
   * course files.
   */
  readonly kept: readonly Action[]
  /** Places of all declared lessons, by course key, of courses where a lesson is created or moved. */
  readonly lessonPlaces: ReadonlyMap<string, readonly LessonPlace[]>
  /** Lessons that are left unchanged. */
  readonly undeclared: readonly Undeclared[]
  /** Entries that refer to unknown records. */
  readonly leftOut: ReadonlySet<Entry>
}

export interface LessonPlace {
  /** Key of the entry, without the number among equal lessons. */
  readonly key: string
  readonly order: number
  readonly id?: string | undefined
}

export interface Undeclared {
  readonly course: string
  readonly id: string
  readonly title: string
  readonly externalId: string | null
  /** True if a declared lesson has the same module and title and exists as another record. */
  readonly isDuplicate: boolean
}

export function summaryOf({
  actions,
  unchanged,
}: Plan): Readonly<Record<'create' | 'update' | 'delete' | 'unchanged', number>> {
  const count = (kind: Action['kind']) => actions.filter((action) => action.kind === kind).length
  return { create: count('create'), update: count('update'), delete: count('delete'), unchanged }
}

const signs = { create: '+', update: '~', delete: '-' } as const
const colours = { create: 'green', update: 'yellow', delete: 'red' } as const
const secrets = ['password']

/** Creations (`+`), changes (`~`, with each field) and deletions (`-`), `most` of each part; then the counts. */
export function* planText(
  plan: Plan,
  paint: ChalkInstance,
  most = Number.POSITIVE_INFINITY,
): Generator<string> {
  for (const part of parts) {
    const own = plan.actions.filter(({ dataset }) => dataset === part)
    if (own.length === 0) continue
    yield `${paint.bold(part)}\n`
    for (const action of own.slice(0, most)) yield* actionText(action, paint)
    if (own.length > most) yield `  and ${own.length - most} more\n`
  }
  yield `${plan.actions.length > 0 ? '\n' : ''}${countsText(plan)}\n`
}

/**
 * Reports what a plan would change where a workflow runs a command: each change at its place, with the names of its fields.
 *
 * @param placeOf returns where an entry is in the repository
 */
export async function reportPlan(
  io: Parameters<typeof reportToWorkflow>[0],
  command: string,
  plan: Plan,
  placeOf: (place: Place) => Pick<Finding, 'file' | 'line'> = (place) => place,
): Promise<void> {
  const list = plan.actions.slice(0, maxFindings).map((action): Finding => {
    const { kind, entry, changes } = action
    const fields = [...new Set(changes.map(({ field }) => field))].join(', ')
    const place = entry === null ? { file: null, line: 0 } : placeOf(entry.place)
    const text = `${verbs[kind]} ${recordText(action)}${fields === '' ? '' : `: ${fields}`}`
    return { level: 'notice', ...place, text }
  })
  const more = plan.actions.length - list.length
  await reportToWorkflow(io, { title: `learnctl ${command}`, counts: summaryOf(plan), list, more })
}

const verbs = { create: 'Creates', update: 'Changes', delete: 'Deletes' } as const

/** `2 to create, 1 to change, 0 to delete; 40 as declared`. */
export function countsText(plan: Plan): string {
  const { create, update, delete: deleted, unchanged } = summaryOf(plan)
  if (create + update + deleted === 0) return `No changes; ${unchanged} as declared`
  return `${create} to create, ${update} to change, ${deleted} to delete; ${unchanged} as declared`
}

const changeWidth = 74
const maxChangeLines = 8

function* actionText(
  { kind, key, entry, current, changes }: Action,
  paint: ChalkInstance,
): Generator<string> {
  const label = labelOf(entry?.record ?? current ?? {})
  const shown = keyText(key).endsWith(label) ? [keyText(key)] : [keyText(key), label]
  yield `  ${paint[colours[kind]](escapeHidden(`${signs[kind]} ${shown.join('  ')}`))}\n`
  for (const { field, from, to } of changes) {
    for (const line of changeLines(field, from, to, changeWidth, maxChangeLines)) {
      yield `      ${escapeHidden(line)}\n`
    }
  }
}

function labelOf({ title, email, name, completionPercentage, scoreGiven, scoreMaximum }: JsonObject): string {
  if (typeof scoreGiven === 'number') return `${scoreGiven} of ${scoreMaximum ?? 100}`
  if (typeof completionPercentage === 'number') return `${completionPercentage}%`
  return [title, email, name].find((text) => typeof text === 'string')?.toString() ?? ''
}

/** Duplicates of declared lessons come first. */
export function undeclaredNotes({ undeclared }: Plan): string[] {
  const notes: string[] = []
  for (const [course, lessons] of Map.groupBy(undeclared, ({ course }) => course)) {
    for (const isDuplicate of [true, false]) {
      const found = lessons.filter((lesson) => lesson.isDuplicate === isDuplicate)
      const count = found.length
      if (count === 0) continue
      const [have, are] = count === 1 ? ['has', 'is'] : ['have', 'are']
      const what = isDuplicate
        ? `${have} the module and title of a declared lesson, which is there as well; delete what is not needed: learnctl lessons delete <id>`
        : `${are} not declared and ${are} kept`
      const subject = `${pluralise(count, 'lesson')} of course ${keyText(course)}`
      notes.push(`${subject} ${what}: ${firstNames(found.map(({ title, id }) => `${title} (${id})`))}`)
    }
  }
  return notes
}

export function leftOutNotes(leftOut: ReadonlyMap<Entry, readonly string[]>): string[] {
  const lines = [...leftOut].map(([{ place }, messages]) => `${placeText(place)}: ${messages.join('; ')}`)
  const refer = leftOut.size === 1 ? 'refers' : 'refer'
  return [
    `Left out ${pluralise(leftOut.size, 'record')} that ${refer} to unknown ones`,
    ...firstLines(lines, 10),
  ]
}

/** Returns a plan as data; docs/academies.md describes the members. */
export function planDocument(plan: Plan): JsonObject {
  return {
    formatVersion: 1,
    summary: summaryOf(plan),
    // A large plan is written as its changes are made.
    changes: { [Symbol.iterator]: () => changeDocuments(plan.actions) },
    notes: [...plan.notes, ...undeclaredNotes(plan)],
    undeclared: plan.undeclared.map(({ course, id, title, isDuplicate }) => ({
      ...{ dataset: 'lessons', course: keyText(course), id, title, isDuplicate },
    })),
  }
}

function* changeDocuments(actions: readonly Action[]): Generator<object> {
  for (const { dataset, kind, key, entry, current, changes } of actions) {
    yield {
      dataset,
      action: kind,
      key: keyText(key),
      ...(current && { id: current['id'] ?? null }),
      ...(entry && { place: placeText(entry.place) }),
      fields: kind === 'create' ? fieldsOf(entry?.record ?? {}) : changes,
    }
  }
}

function fieldsOf(record: JsonObject): object[] {
  return Object.entries(record)
    .filter(([field]) => !secrets.includes(field))
    .map(([field, to]) => ({ field, from: null, to: isJsonObject(to) ? to : (to ?? null) }))
}
