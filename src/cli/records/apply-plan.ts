import type { JsonObject } from '../../codec/json-text.ts'
import type { Names } from '../dataset/names.ts'
import { thingName } from '../operation/thing-name.ts'
import type { BulkChange } from '../session/bulk-change.ts'
import { type CarriedOut, nounOf, type Staged, stage, type Write } from './carry-out.ts'
import type { Change } from './compare.ts'
import { type Entry, isSet, loadPart, nouns, type Part, type PartDataset, parts } from './entries.ts'
import { keyIn } from './identity.ts'
import type { Action, Plan } from './plan.ts'
import { versionOf, type Writer } from './write.ts'

/** An action that the server refuses. */
export interface Failure {
  readonly action: Action
  readonly code: string
  readonly message: string
}

/** A plan that the server keeps. */
export interface StagedPlan {
  /** Number of writes. */
  readonly size: number
  /** Says which actions would be refused, and what would be restored; null where that is not known before. */
  trial(): Promise<Trial | null>
  /** Carries the plan out; without `skipsRefused` nothing of a transaction with a refused action is done. */
  carryOut(how: {
    readonly skipsRefused: boolean
    /** Called with the number of writes that are done. */
    readonly onDone?: (done: number) => Promise<void>
  }): Promise<AppliedPlan>
  drop(): Promise<void>
}

export interface Trial {
  readonly failures: readonly Failure[]
  /** Sentences about records that would be restored. */
  readonly restored: readonly string[]
}

export interface AppliedPlan {
  readonly failures: readonly Failure[]
  readonly done: ReadonlySet<Action>
  /** Ids of the records that were created or changed, in the order of the writes. */
  readonly ids: readonly string[]
}

/** Sends a plan to the server, in this order: records of each part, places of lessons, deletions. */
export async function stagePlan(writer: Writer, change: BulkChange, plan: Plan): Promise<StagedPlan> {
  const writes = await writesOf(writer.names, plan)
  const staged: Staged<Action | null> = await stage(writer, change, writes)
  return {
    size: writes.length,
    async trial() {
      const outcome = await staged.trial()
      return outcome && { failures: failuresOf(plan, outcome), restored: restoredNotes('Restores', outcome) }
    },
    async carryOut(how) {
      const outcome = await staged.carryOut(how)
      for (const text of restoredNotes('Restored', outcome)) writer.notes.add(text)
      const failures = failuresOf(plan, outcome)
      const done = actionsIn(writes.slice(0, outcome.done))
      for (const { action } of failures) done.delete(action)
      return { failures, done, ids: outcome.ids }
    },
    drop: staged.drop,
  }
}

function actionsIn(writes: readonly Write<Action | null>[]): Set<Action> {
  return new Set(writes.flatMap(({ from }) => from ?? []))
}

/** Returns the failures in the order of the plan, one for each action. */
function failuresOf(plan: Plan, { refused }: CarriedOut<Action | null>): readonly Failure[] {
  const failures = new Map<Action, Failure>()
  for (const { from: action, code, message } of refused) {
    if (action && !failures.has(action)) failures.set(action, { action, code, message })
  }
  return plan.actions.flatMap((action) => failures.get(action) ?? [])
}

/** Maximum restored records to name. */
const maxNamed = 10

/** Returns a sentence about the restored records, without lessons that came back with their course; none without any. */
function restoredNotes(verb: string, { restored }: CarriedOut<Action | null>): string[] {
  const actions = restored.filter((action) => action !== null)
  const courses = new Set(actions.flatMap(({ dataset, key }) => (dataset === 'courses' ? [key] : [])))
  const named = actions
    .filter(({ dataset, entry }) => dataset !== 'lessons' || !courses.has(String(entry?.record['courseId'])))
    .map(({ dataset, entry }) => `${nouns[dataset]} ${thingName(entry?.record ?? {})}`)
  if (named.length === 0) return []
  const more = named.length > maxNamed ? ` and ${named.length - maxNamed} more` : ''
  return [`${verb} from the trash: ${named.slice(0, maxNamed).join(', ')}${more}`]
}

type PlannedWrite = Write<Action | null>

async function writesOf(names: Names, plan: Plan): Promise<PlannedWrite[]> {
  const byPart = Map.groupBy(plan.actions, ({ dataset }) => dataset)
  const writes: PlannedWrite[] = plan.kept.map(({ dataset, current }) => ({
    ...{ noun: nounOf[dataset], action: 'keep', id: current?.['id'], from: null },
    version: versionOf(current),
  }))
  for (const part of parts) {
    const dataset = await loadPart(part)
    const actions = (byPart.get(part) ?? []).filter(({ kind }) => kind !== 'delete')
    const isUpdate = ({ kind }: Action) => kind === 'update' && !isSet(dataset)
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
  if (isSet(dataset)) {
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
