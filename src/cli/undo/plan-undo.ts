import { createHash } from 'node:crypto'
import { ApiError } from '../../client/errors.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { calls } from '../../contract/calls.ts'
import type { Writing } from '../records/execute.ts'
import { addTermIds, readCurrent } from './current-records.ts'
import { type FieldChange, isSame, type Lasting, type NetChange, NewIds, type Summed } from './net-change.ts'
import { type KindName, kinds, type RecordKind } from './record-kinds.ts'

/** An action of an undo on one record: removes a created one, restores a deleted one, or changes fields back. */
export interface UndoAction {
  readonly kind: 'create' | 'update' | 'delete'
  readonly of: RecordKind
  readonly net: NetChange
  /** The record as it is now; null if it is not there. */
  readonly current: JsonObject | null
  /** Fields to change back: from the present value to the former one. */
  readonly fields: ReadonlyMap<string, FieldChange>
}

/** A record, or fields of one, that an undo leaves as they are. */
export interface Kept {
  readonly noun: KindName
  readonly id: string
  readonly name: string
  readonly fields: readonly string[]
  readonly reason: string
}

export interface UndoPlan {
  readonly actions: readonly UndoAction[]
  readonly kept: readonly Kept[]
  readonly lasting: Lasting
  /** Number of records that are as before already. */
  readonly done: number
  /** True to delete courses with everything in them. */
  readonly deletesWhole: boolean
  readonly newIds: NewIds
  /** Former places of lessons, by id. */
  readonly places: ReadonlyMap<string, number>
}

/** A change that is compared with the records as they are now. */
interface Comparison {
  readonly reading: Writing
  readonly records: readonly NetChange[]
  readonly newIds: NewIds
  readonly places: Map<string, number>
}

const changedSince = 'was changed since'

/** Compares what a change did with the records as they are now. */
export async function planUndo(
  reading: Writing,
  { records, lasting, newIds: known }: Summed,
  deletesWhole: boolean,
): Promise<UndoPlan> {
  const newIds = new NewIds(known)
  const places = new Map<string, number>()
  const comparison: Comparison = { reading, records, newIds, places }
  const actions: UndoAction[] = []
  const kept: Kept[] = []
  let done = 0
  const byKind = Map.groupBy(records, ({ noun }) => noun)
  const removed = new Set<unknown>()
  for (const kind of kinds) {
    const own = byKind.get(kind.name) ?? []
    // They go with their course.
    const others = own.filter(({ known, wasThere }) => wasThere || !removed.has(known['courseId']))
    done += own.length - others.length
    const current = await readCurrent(reading, kind, others)
    if (kind.name === 'course') await addTermIds(reading, records, newIds)
    for (const net of others) {
      const now = current.get(net.id) ?? null
      if (now) newIds.set(kind.name, net.id, now['id'])
      const found = await compare(comparison, kind, net, now)
      if (found.action) actions.push(found.action)
      if (found.kept) kept.push(found.kept)
      if (!found.action && !found.kept) done += 1
      const { action } = found
      if (deletesWhole && kind.name === 'course' && action?.kind === 'delete') removed.add(net.id)
    }
  }
  return { actions, kept, lasting, done, deletesWhole, newIds, places }
}

interface Compared {
  readonly action?: UndoAction
  readonly kept?: Kept
}

async function compare(
  comparison: Comparison,
  of: RecordKind,
  net: NetChange,
  current: JsonObject | null,
): Promise<Compared> {
  const { noun, id, name, wasThere, isThere, versions } = net
  const keep = (reason: string, fields: readonly string[] = []): Kept => ({ noun, id, name, fields, reason })
  const isHere = current !== null && current['status'] !== 'deleted'
  const none = new Map<string, FieldChange>()
  if (!wasThere) {
    if (!isHere) return {}
    // Without a trash, later changes would be lost.
    const isLost = !of.isMarked && !of.dataset.operations.restore
    const version = current['version']
    const isChanged = versions.after !== null && typeof version === 'number' && version !== versions.after
    if (isLost && isChanged) return { kept: keep(changedSince) }
    return { action: { kind: 'delete', of, net, current, fields: none } }
  }
  if (!isHere) {
    if (isThere) return { kept: keep('was deleted since') }
    const back = [...net.fields].map(([field, { from, to }]) => [field, { from: to, to: from }] as const)
    const order = net.fields.get('order')?.from ?? net.known['order']
    if (noun === 'lesson') comparison.places.set(id, Number(order))
    return { action: { kind: 'create', of, net, current, fields: new Map(back) } }
  }
  // It was deleted, and is there again.
  if (!isThere && net.fields.size === 0) return {}
  return compareFields(comparison, of, net, current, keep)
}

async function compareFields(
  { reading, records, newIds, places }: Comparison,
  of: RecordKind,
  net: NetChange,
  current: JsonObject,
  keep: (reason: string, fields?: readonly string[]) => Kept,
): Promise<Compared> {
  const fields = new Map<string, FieldChange>()
  const changed: string[] = []
  const unknown: string[] = []
  // It had the same place in the other course.
  if (of.name === 'lesson' && net.fields.has('courseId')) places.set(net.id, Number(current['order']))
  for (const [field, { from: recorded, to }] of net.fields) {
    const value = current[field] ?? null
    const from = newIds.inRecord({ [field]: recorded })[field]
    const isFormer = isValue(value, from)
    const isKept = !isFormer && !isValue(value, to) && !isShifted(net, field, records)
    if (field === 'order' && !isKept) places.set(net.id, Number(from))
    if (isFormer) continue
    const former = isOmitted(from) ? await versionValue(reading, net, field) : from
    if (former === undefined) unknown.push(field)
    else if (isKept) changed.push(field)
    else fields.set(field, { from: value, to: former })
  }
  // The time of a grade follows from its change: an older one would not be accepted.
  if (of.name === 'grade' && [...fields.keys()].every((field) => field === 'gradedAt')) fields.clear()
  const action = fields.size > 0 && ({ kind: 'update', of, net, current, fields } as const)
  const kept =
    changed.length > 0
      ? keep(changedSince, changed)
      : unknown.length > 0 && keep('has a former value that the audit log does not hold', unknown)
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

/** A long value, of which the audit log has the digest. */
interface Omitted {
  readonly omitted: true
  readonly sha256: string
}

function isOmitted(value: unknown): value is Omitted {
  return isJsonObject(value) && value['omitted'] === true && typeof value['sha256'] === 'string'
}

function isValue(value: unknown, recorded: unknown): boolean {
  if (!isOmitted(recorded)) return isSame(value, recorded)
  return createHash('sha256').update(JSON.stringify(value)).digest('hex') === recorded.sha256
}

/** Returns a field of the version before the change; undefined if the platform has none. */
async function versionValue(
  { caller, signal }: Writing,
  { noun, id, versions }: NetChange,
  field: string,
): Promise<unknown> {
  if (versions.before === null || (noun !== 'course' && noun !== 'lesson')) return undefined
  const version = String(versions.before)
  try {
    const { data } =
      noun === 'course'
        ? await caller.call(calls.courses.version, { params: { courseId: id, version }, signal })
        : await caller.call(calls.lessons.version, { params: { lessonId: id, version }, signal })
    const attributes: unknown = data.attributes
    return isJsonObject(attributes) ? attributes[field] : undefined
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  }
}

/** Returns the modules of a course; none for any other value. */
export function modulesIn(modules: unknown): JsonObject[] {
  return Array.isArray(modules) ? modules.filter(isJsonObject) : []
}
