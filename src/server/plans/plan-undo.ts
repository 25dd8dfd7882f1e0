import { createHash } from 'node:crypto'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import type { UndoableNoun } from '../../contract/constants.ts'
import { courses } from '../../contract/courses.ts'
import { lessons } from '../../contract/lessons.ts'
import { ProblemError } from '../problem-error.ts'
import { type FieldChange, isSame, type NetChange } from './net-change.ts'
import type { Perform } from './perform.ts'
import { kinds, type RecordKind } from './record-kinds.ts'

export interface UndoAction {
  readonly kind: 'create' | 'update' | 'delete'
  readonly of: RecordKind
  readonly net: NetChange
  /** Null if it is not there. */
  readonly current: JsonObject | null
  /** Fields to change back: from the present value to the former one. */
  readonly fields: ReadonlyMap<string, FieldChange>
}

export interface Kept {
  readonly noun: UndoableNoun
  readonly id: string
  readonly name: string
  readonly fields: readonly string[]
  readonly reason: string
}

export interface Actions {
  readonly actions: readonly UndoAction[]
  readonly kept: readonly Kept[]
  /** Records that are as before already. */
  readonly done: number
  /** Former places of lessons, by id. */
  readonly places: ReadonlyMap<string, number>
}

export interface Reading {
  readonly perform: Perform
  readonly performAsAdmin: Perform
  readonly seesAll: boolean
}

interface Comparison {
  readonly reading: Reading
  readonly records: readonly NetChange[]
  readonly places: Map<string, number>
  /** Ids of the courses that come back, with all that was deleted with them. */
  readonly returning: ReadonlySet<unknown>
}

const changedSince = 'was changed since'

export async function planActions(
  reading: Reading,
  records: readonly NetChange[],
  deletesWhole: boolean,
): Promise<Actions> {
  const places = new Map<string, number>()
  const returning = new Set<unknown>()
  const comparison: Comparison = { reading, records, places, returning }
  const actions: UndoAction[] = []
  const kept: Kept[] = []
  let done = 0
  const byKind = Map.groupBy(records, ({ noun }) => noun)
  const removed = new Set<unknown>()
  for (const kind of kinds) {
    for (const net of byKind.get(kind.name) ?? []) {
      const goesWithCourse = !net.wasThere && removed.has(net.known['courseId'])
      const found = goesWithCourse ? {} : await compare(comparison, kind, net)
      if (found.action) actions.push(found.action)
      if (found.kept) kept.push(found.kept)
      if (!found.action && !found.kept) done += 1
      if (kind.name !== 'course') continue
      if (deletesWhole && found.action?.kind === 'delete') removed.add(net.id)
      if (found.action?.kind === 'create') returning.add(net.id)
    }
  }
  return { actions, kept, done, places }
}

interface Compared {
  readonly action?: UndoAction
  readonly kept?: Kept
}

async function compare(comparison: Comparison, of: RecordKind, net: NetChange): Promise<Compared> {
  const { reading } = comparison
  const current = await read(reading.performAsAdmin, of, net)
  if (current && !reading.seesAll && of.get && !(await read(reading.perform, of, net))) {
    return { kept: keptOf(net, 'is not visible to you') }
  }
  const { noun, id, wasThere, isThere, versions } = net
  const isHere = current !== null && current['status'] !== 'deleted'
  const none = new Map<string, FieldChange>()
  if (!wasThere) {
    if (!isHere) return {}
    // Without a trash, later changes would be lost.
    const isLost = !of.isMarked && !of.restore
    const version = current['version']
    const isChanged = versions.after !== null && typeof version === 'number' && version !== versions.after
    if (isLost && isChanged) return { kept: keptOf(net, changedSince) }
    return { action: { kind: 'delete', of, net, current, fields: none } }
  }
  if (!isHere) {
    if (isThere && comparison.returning.has(net.known['courseId'])) {
      const { action, kept } = await compareFields(comparison, of, net, { ...net.known, id })
      return { ...(action && { action: { ...action, current: null } }), ...(kept && { kept }) }
    }
    if (isThere) return { kept: keptOf(net, 'was deleted since') }
    const back = [...net.fields].map(([field, { from, to }]) => [field, { from: to, to: from }] as const)
    const order = net.fields.get('order')?.from ?? net.known['order']
    if (noun === 'lesson') comparison.places.set(id, Number(order))
    return { action: { kind: 'create', of, net, current, fields: new Map(back) } }
  }
  // It was deleted, and is there again.
  if (!isThere && net.fields.size === 0) return {}
  return compareFields(comparison, of, net, current)
}

function keptOf({ noun, id, name }: NetChange, reason: string, fields: readonly string[] = []): Kept {
  return { noun, id, name, fields, reason }
}

/** Returns a record as it is now: by its id, else by what identifies it; null without one. */
async function read(
  perform: Perform,
  kind: RecordKind,
  { id, known }: NetChange,
): Promise<JsonObject | null> {
  const { get, list, params, sought } = kind
  const record = { ...known, id }
  try {
    if (get) return (await perform(get, { params: params(record) })) as JsonObject
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  if (!sought) return null
  try {
    const page = await perform(list, { params: params(record), query: { ...sought(record), limit: '1' } })
    const [first] = (page as { data: JsonObject[] }).data
    return first ?? null
  } catch (error) {
    // A membership is not found without its group, or a grade without its course.
    if (!isMissing(error)) throw error
    return null
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof ProblemError && [400, 404].includes(error.status)
}

async function compareFields(
  { reading, records, places }: Comparison,
  of: RecordKind,
  net: NetChange,
  current: JsonObject,
): Promise<Compared> {
  const fields = new Map<string, FieldChange>()
  const changed: string[] = []
  const unknown: string[] = []
  // It had the same place in the other course.
  if (of.name === 'lesson' && net.fields.has('courseId') && current['order'] !== undefined) {
    places.set(net.id, Number(current['order']))
  }
  for (const [field, { from, to }] of net.fields) {
    const value = current[field] ?? null
    const isFormer = isValue(value, from)
    const isKept = !isFormer && !isValue(value, to) && !isShifted(net, field, records)
    if (field === 'order' && !isKept) places.set(net.id, Number(from))
    if (isFormer) continue
    const former = isOmitted(from) ? await versionValue(reading.performAsAdmin, net, field) : from
    if (former === undefined) unknown.push(field)
    else if (isKept) changed.push(field)
    else fields.set(field, { from: value, to: former })
  }
  // The time of a grade follows from its change: an older one would not be accepted.
  if (of.name === 'grade' && [...fields.keys()].every((field) => field === 'gradedAt')) fields.clear()
  const action = fields.size > 0 && ({ kind: 'update', of, net, current, fields } as const)
  const kept =
    changed.length > 0
      ? keptOf(net, changedSince, changed)
      : unknown.length > 0 && keptOf(net, 'has a former value that the audit log does not hold', unknown)
  return { ...(action && { action }), ...(kept && { kept }) }
}

/** True for the place of a lesson that lessons which came or went with the change have moved. */
function isShifted({ noun, known }: NetChange, field: string, all: readonly NetChange[]): boolean {
  return (
    noun === 'lesson' &&
    field === 'order' &&
    all.some(
      (other) =>
        other.noun === 'lesson' &&
        other.wasThere !== other.isThere &&
        (known['courseId'] === undefined || other.known['courseId'] === known['courseId']),
    )
  )
}

interface Omitted {
  readonly omitted: true
  readonly sha256: string
}

function isOmitted(value: unknown): value is Omitted {
  return isJsonObject(value) && value['omitted'] === true && typeof value['sha256'] === 'string'
}

function isValue(value: unknown, recorded: unknown): boolean {
  if (isSame(value, recorded)) return true
  if (!isOmitted(recorded)) return false
  return createHash('sha256').update(JSON.stringify(value)).digest('hex') === recorded.sha256
}

/** Undefined if there is none. */
async function versionValue(
  perform: Perform,
  { noun, id, versions }: NetChange,
  field: string,
): Promise<unknown> {
  if (versions.before === null || (noun !== 'course' && noun !== 'lesson')) return undefined
  const version = String(versions.before)
  try {
    const { attributes } =
      noun === 'course'
        ? await perform(courses.version, { params: { courseId: id, version } })
        : await perform(lessons.version, { params: { lessonId: id, version } })
    return (attributes as JsonObject)[field]
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}
