import type { JsonObject } from '../../codec/json-text.ts'
import type { PlannedNoun, PlannedStep } from '../../contract/plans.ts'
import type { Names } from '../dataset/names.ts'
import type { Change } from './compare.ts'
import { type Entry, isSentWhole, loadPart, type Part, type PartDataset, parts } from './entries.ts'
import { keyIn } from './identity.ts'
import type { Action, Plan } from './plan.ts'
import { versionOf } from './write.ts'

/** A step that the server carries out. */
export interface PlannedWrite {
  readonly noun: PlannedNoun
  readonly action: PlannedStep['action']
  readonly id?: unknown
  /** Version that the record must have; undefined for any. */
  readonly version?: number | undefined
  readonly record?: JsonObject
  /** Action that it is a part of; null for none. */
  readonly from: Action | null
}

/**
 * Returns the writes of a plan in their order: closed records, records of each part, places of lessons, deletions.
 */
export async function writesOf(names: Names, plan: Plan): Promise<PlannedWrite[]> {
  const byPart = Map.groupBy(plan.actions, ({ dataset }) => dataset)
  const writes: PlannedWrite[] = plan.kept.map(({ dataset, current }) => ({
    ...{ noun: nounOf[dataset], action: 'keep', id: current?.['id'], from: null },
    version: versionOf(current),
  }))
  for (const part of parts) {
    const dataset = await loadPart(part)
    const actions = (byPart.get(part) ?? []).filter(({ kind }) => kind !== 'delete')
    const isUpdate = ({ kind }: Action) => kind === 'update' && !isSentWhole(dataset)
    // A creation may need a name that an update frees.
    for (const action of [...actions.filter(isUpdate), ...actions.filter((action) => !isUpdate(action))]) {
      for (const write of await writesOfAction(dataset, action, names)) writes.push(write)
    }
    if (part === 'lessons') writes.push(...placesIn(plan, writes))
  }
  for (const part of parts.toReversed()) {
    for (const action of byPart.get(part) ?? []) {
      if (action.kind === 'delete') writes.push(deletionOf(part, action))
    }
  }
  return writes
}

function deletionOf(part: Part, action: Action): PlannedWrite {
  const { current } = action
  const { groupId, userId } = current ?? {}
  return {
    ...{ noun: nounOf[part], action: 'delete', from: action },
    ...(part === 'memberships' ? { record: { groupId, userId } } : { id: current?.['id'] }),
    version: versionOf(current),
  }
}

async function writesOfAction(dataset: PartDataset, action: Action, names: Names): Promise<PlannedWrite[]> {
  const { entry, current, kind } = action
  if (!entry) return []
  const noun = nounOf[dataset.name]
  const create = (record: JsonObject): PlannedWrite => ({ noun, action: 'create', record, from: action })
  if (dataset.name === 'progress') return missingSteps(entry, current).map(create)
  if (kind === 'create' && dataset.name === 'memberships') return [create(entry.record)]
  if (kind === 'create') return [create(await bodyOf(dataset, entry.record, null, names))]
  if (isSentWhole(dataset)) {
    const { gradedAt: _, ...others } = current ? await dataset.toRecord(current, names) : {}
    return [create({ ...others, ...entry.record })]
  }
  const record = await bodyOf(dataset, changedFields(dataset, action), current, names)
  if (Object.keys(record).length === 0) return []
  const { id } = current ?? {}
  return [{ noun, action: 'update', id, version: versionOf(current), record, from: action }]
}

/** Returns what an operation takes; the module of a lesson keeps its name, since the plan may make it. */
async function bodyOf(
  dataset: PartDataset,
  { module, ...record }: JsonObject,
  current: JsonObject | null,
  names: Names,
): Promise<JsonObject> {
  const body = await dataset.toBody(record, current, names)
  return module === undefined ? body : { ...body, module }
}

function changedFields(dataset: PartDataset, { entry, changes }: Action): JsonObject {
  const record = entry?.record ?? {}
  const restored = changes.find(({ field, from }) => field === 'status' && from === 'deleted')
  const changed = changedPart(record, changes)
  if (dataset.name === 'lessons') {
    // Lessons move when all of them are there.
    delete changed['order']
    // They name modules of their course.
    if (Object.keys(changed).length > 0) changed['courseId'] = record['courseId']
  }
  return restored ? { ...changed, status: restored.to } : changed
}

/** Returns the steps that order the lessons of courses, once they are written. */
function placesIn({ lessonPlaces, actions }: Plan, writes: readonly PlannedWrite[]): PlannedWrite[] {
  /** Steps of new lessons by key; equal lessons in their order. */
  const made = Map.groupBy(
    [...writes.entries()].filter(([, { noun, action }]) => noun === 'lesson' && action === 'create'),
    ([, { from }]) => keyIn('lessons', from?.entry?.record ?? {}) ?? from?.key,
  )
  const lessons = actions.filter(({ dataset }) => dataset === 'lessons')
  return [...lessonPlaces].map(([courseId, places]) => ({
    ...{ noun: 'lesson', action: 'place' },
    record: {
      courseId,
      places: places.map(({ key, order, id }) => {
        const step = id === undefined ? made.get(key)?.shift()?.[0] : undefined
        return { order, ...(id !== undefined && { id }), ...(step !== undefined && { step }) }
      }),
    },
    from: lessons.find(({ entry }) => entry?.record['courseId'] === courseId) ?? null,
  }))
}

/** Returns the fields that have changes; objects contain only declared members. */
function changedPart(record: JsonObject, changes: readonly Change[]): Record<string, unknown> {
  const fields = new Set(changes.map(({ field }) => field.split('.', 1)[0] ?? field))
  return Object.fromEntries(Object.entries(record).filter(([field]) => fields.has(field)))
}

/** Returns the steps of an entry; the last one is its record. */
function stepsOf({ record, steps }: Entry): readonly JsonObject[] {
  return steps ?? [record]
}
/** Returns the steps that the academy lacks: those after the shown one, else those with later times. */
function missingSteps(entry: Entry, shown: JsonObject | null): readonly JsonObject[] {
  const steps = stepsOf(entry)
  if (shown === null) return steps
  const last = steps.findLastIndex((step) => isSame(step, shown))
  if (last >= 0 && last < steps.length - 1) return steps.slice(last + 1)
  const reached = timeOf(shown) ?? 0
  const later = steps.filter((step) => (timeOf(step) ?? Number.MAX_SAFE_INTEGER) > reached)
  return later.length > 0 ? later : [entry.record]
}

function isSame(step: JsonObject, shown: JsonObject): boolean {
  return step['completionPercentage'] === shown['completionPercentage'] && timeOf(step) === timeOf(shown)
}

function timeOf({ lastAccessed }: JsonObject): number | null {
  return typeof lastAccessed === 'string' ? Date.parse(lastAccessed) : null
}

const nounOf = {
  terms: 'term',
  users: 'user',
  courses: 'course',
  groups: 'group',
  memberships: 'membership',
  lessons: 'lesson',
  enrollments: 'enrollment',
  progress: 'progress',
  grades: 'grade',
} as const satisfies Readonly<Record<Part, PlannedNoun>>
