import { ApiError } from '../../client/errors.ts'
import type { JsonObject } from '../../codec/json-text.ts'
import { calls } from '../../contract/calls.ts'
import { maxPlannedWrites } from '../../contract/constants.ts'
import type { PlannedNoun, PlannedStep, PlanOutcome, RefusedStep } from '../../contract/plans.ts'
import { fieldPath } from '../../tables/column.ts'
import type { Names } from '../dataset/names.ts'
import { thingName } from '../operation/thing-name.ts'
import type { BulkChange } from '../session/bulk-change.ts'
import { firstNames } from '../terminal/format-text.ts'
import type { Change } from './compare.ts'
import { type Entry, isSentWhole, loadPart, nouns, type Part, type PartDataset, parts } from './entries.ts'
import { keyIn } from './identity.ts'
import type { Action, Plan } from './plan.ts'
import { batchSize, createBatcher, versionOf, type Writer } from './write.ts'

export interface Failure {
  readonly action: Action
  readonly code: string
  readonly message: string
}

export interface StagedPlan {
  /** Number of writes. */
  readonly size: number
  /** Null where refusals cannot be known before. */
  trial(): Promise<Trial | null>
  /** Carries the plan out; without `skipsRefused` nothing of a transaction with a refused action is done. */
  carryOut(how: {
    readonly skipsRefused: boolean
    readonly onDone?: (done: number) => Promise<void>
  }): Promise<AppliedPlan>
  drop(): Promise<void>
}

export interface Trial {
  readonly failures: readonly Failure[]
  readonly restored: readonly string[]
  readonly warnings: readonly string[]
}

export interface AppliedPlan {
  readonly failures: readonly Failure[]
  readonly done: ReadonlySet<Action>
  readonly ids: readonly string[]
}

/** Sends a plan to the server, which keeps it for a day. */
export async function stagePlan(
  { caller, names, notes, signal }: Writer,
  { command, source }: BulkChange,
  plan: Plan,
): Promise<StagedPlan> {
  const { data: made } = await caller.call(calls.plans.create, { body: { command, source }, signal })
  const params = { planId: made.id }
  /** Actions of each step. */
  const actions: (readonly Action[])[] = []
  const batcher = createBatcher<JsonObject>(partSize, (step) => step)
  let sent = 0
  const send = async (steps: readonly JsonObject[]) => {
    if (steps.length === 0) return
    const at = { ...params, stepNumber: String(sent) }
    await caller.call(calls.plans.addSteps, { params: at, body: { steps } as never, signal })
    sent += steps.length
  }
  for await (const { from, ...step } of writesOf(names, plan)) {
    actions.push(from)
    await send(batcher.add(step) ?? [])
  }
  await send(batcher.rest())

  const run = async (isTrial: boolean, skipsRefused: boolean): Promise<PlanOutcome> => {
    const body = { isTrial, skipsRefused }
    return (await caller.call(calls.plans.carryOut, { params, body, signal })).data
  }
  const actionsAt = (steps: readonly number[]) => steps.flatMap((step) => actions[step] ?? [])
  const warningsOf = ({ warnings }: PlanOutcome) =>
    warnings.map(({ step, detail }) => `Course ${thingName(actions[step]?.[0]?.current)}: ${detail}`)

  return {
    size: actions.length,
    async trial() {
      if (actions.length > maxPlannedWrites) return null
      const outcome = await run(true, true)
      return {
        failures: failuresOf(plan, actions, outcome.refused),
        restored: restoredNotes('Restores', actionsAt(outcome.restored)),
        warnings: warningsOf(outcome),
      }
    },
    async carryOut({ skipsRefused, onDone }) {
      const refused: RefusedStep[] = []
      const restored: number[] = []
      const ids: string[] = []
      for (;;) {
        const part = await run(false, skipsRefused)
        refused.push(...part.refused)
        restored.push(...part.restored)
        ids.push(...part.ids)
        for (const text of warningsOf(part)) notes.add(text)
        await onDone?.(part.done)
        const isStopped = part.refused.length > 0 && !skipsRefused
        if (!part.isComplete && !isStopped) continue
        for (const text of restoredNotes('Restored', actionsAt(restored))) notes.add(text)
        const failures = failuresOf(plan, actions, refused)
        const done = new Set(actions.slice(0, part.done).flat())
        for (const { action } of failures) done.delete(action)
        return { failures, done, ids }
      }
    },
    async drop() {
      // It is deleted after a day anyway.
      await caller.call(calls.plans.delete, { params, signal }).catch(() => {})
    },
  }
}

/** Maximum size of a request that adds steps. */
const partSize = { ...batchSize, records: 1000 }

function failuresOf(
  plan: Plan,
  actions: readonly (readonly Action[])[],
  refused: readonly RefusedStep[],
): readonly Failure[] {
  const failures = new Map<Action, Failure>()
  for (const { step, code, ...refusal } of refused) {
    for (const action of actions[step] ?? []) {
      if (!failures.has(action)) failures.set(action, { action, code, message: messageOf(refusal) })
    }
  }
  return plan.actions.flatMap((action) => failures.get(action) ?? [])
}

/** Names fields of the file instead of the API's pointers. */
function messageOf({ errors, message }: Pick<RefusedStep, 'errors' | 'message'>): string {
  if (errors.length === 0) return message
  return errors.map(({ pointer, detail }) => `${fieldPath(pointer)} ${detail}`).join('; ')
}

/** Lessons that came back with their course are not named; none without any. */
function restoredNotes(verb: string, actions: readonly Action[]): string[] {
  const courses = new Set(actions.flatMap(({ dataset, key }) => (dataset === 'courses' ? [key] : [])))
  const named = actions
    .filter(({ dataset, entry }) => dataset !== 'lessons' || !courses.has(String(entry?.record['courseId'])))
    .map(({ dataset, entry }) => `${nouns[dataset]} ${thingName(entry?.record ?? {})}`)
  return named.length === 0 ? [] : [`${verb} from the trash: ${firstNames(named)}`]
}

/** Null for a caller who may not write. */
export async function whereAllowed<Result>(work: () => Promise<Result>): Promise<Result | null> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return null
    throw error
  }
}

interface PlannedWrite {
  readonly noun: PlannedNoun
  readonly action: PlannedStep['action']
  readonly id?: unknown
  /** Undefined for any. */
  readonly version?: number | undefined
  readonly record?: JsonObject
  readonly from: readonly Action[]
}

/**
 * Yields the writes of a plan in their order: closed records, records of each part, places of lessons, deletions.
 */
async function* writesOf(names: Names, plan: Plan): AsyncGenerator<PlannedWrite> {
  const byPart = Map.groupBy(plan.actions, ({ dataset }) => dataset)
  /** Steps of new lessons by key; equal lessons in their order. */
  const newLessons = new Map<string | undefined, number[]>()
  let step = 0
  for (const { dataset, current } of plan.kept) {
    const version = versionOf(current)
    yield { noun: nounOf[dataset], action: 'keep', id: current?.['id'], version, from: [] }
    step += 1
  }
  for (const part of parts) {
    const dataset = await loadPart(part)
    const actions = (byPart.get(part) ?? []).filter(({ kind }) => kind !== 'delete')
    const isUpdate = ({ kind }: Action) => kind === 'update' && !isSentWhole(dataset)
    // A creation may need a name that an update frees.
    for (const action of [...actions.filter(isUpdate), ...actions.filter((action) => !isUpdate(action))]) {
      for (const write of await writesOfAction(dataset, action, names)) {
        if (part === 'lessons' && write.action === 'create') {
          const key = keyIn('lessons', action.entry?.record ?? {}) ?? action.key
          newLessons.set(key, [...(newLessons.get(key) ?? []), step])
        }
        yield write
        step += 1
      }
    }
    if (part !== 'lessons') continue
    for (const write of placesIn(plan, newLessons)) {
      yield write
      step += 1
    }
  }
  for (const part of parts.toReversed()) {
    for (const action of byPart.get(part) ?? []) {
      if (action.kind === 'delete') yield deletionOf(part, action)
    }
  }
}

function deletionOf(part: Part, action: Action): PlannedWrite {
  const { current } = action
  const { groupId, userId } = current ?? {}
  return {
    ...{ noun: nounOf[part], action: 'delete', from: [action] },
    ...(part === 'memberships' ? { record: { groupId, userId } } : { id: current?.['id'] }),
    version: versionOf(current),
  }
}

async function writesOfAction(dataset: PartDataset, action: Action, names: Names): Promise<PlannedWrite[]> {
  const { entry, current, kind } = action
  if (!entry) return []
  const noun = nounOf[dataset.name]
  const create = (record: JsonObject): PlannedWrite => ({ noun, action: 'create', record, from: [action] })
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
  return [{ noun, action: 'update', id, version: versionOf(current), record, from: [action] }]
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

function placesIn(
  { lessonPlaces, actions }: Plan,
  newLessons: Map<string | undefined, number[]>,
): PlannedWrite[] {
  const lessons = actions.filter(({ dataset }) => dataset === 'lessons')
  return [...lessonPlaces].map(([courseId, places]) => ({
    ...{ noun: 'lesson', action: 'place' },
    record: {
      courseId,
      places: places.map(({ key, order, id }) => {
        const step = id === undefined ? newLessons.get(key)?.shift() : undefined
        return { order, ...(id !== undefined && { id }), ...(step !== undefined && { step }) }
      }),
    },
    from: movedIn(lessons.filter(({ entry }) => entry?.record['courseId'] === courseId)),
  }))
}

/** Returns the lessons that nothing but the step which orders them changes; else the first, so that a refusal has one. */
function movedIn(lessons: readonly Action[]): readonly Action[] {
  const moved = lessons.filter(
    ({ changes }) => changes.length > 0 && changes.every(({ field }) => field === 'order'),
  )
  return moved.length > 0 ? moved : lessons.slice(0, 1)
}

/** Objects contain only declared members. */
function changedPart(record: JsonObject, changes: readonly Change[]): Record<string, unknown> {
  const fields = new Set(changes.map(({ field }) => field.split('.', 1)[0] ?? field))
  return Object.fromEntries(Object.entries(record).filter(([field]) => fields.has(field)))
}

/** Steps after the shown one, else those with later times. */
function missingSteps(entry: Entry, shown: JsonObject | null): readonly JsonObject[] {
  const { steps = [entry.record] } = entry
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
