import type { JsonObject } from '../../codec/json-object.ts'
import type { DatasetName } from '../dataset/dataset.ts'
import { findShown } from '../dataset/find.ts'
import { fieldPath } from '../operation/field-path.ts'
import type { Change } from '../records/compare.ts'
import { restoreLesson } from '../records/restore-lessons.ts'
import type { Refusal } from '../records/step.ts'
import {
  batchSize,
  createBatcher,
  createRecord,
  createRefusals,
  deleteRecord,
  updateRecord,
  versionOf,
  writeBatch,
} from '../records/write.ts'
import { busyIn, stagesOf } from './closing.ts'
import { isSet, parts } from './entry.ts'
import { settleLessons } from './lesson-places.ts'
import type { PartDataset } from './load-part.ts'
import { loadPart } from './load-part.ts'
import type { Action, Plan } from './plan.ts'
import { missingSteps } from './progress-steps.ts'
import type { Reader } from './reader.ts'
import { uniqueNames } from './renames.ts'

/** Options for applying a plan. */
export interface Applying extends Reader {
  /** Datasets of which one request takes many records. */
  readonly batched: ReadonlySet<DatasetName>
  /** Called with the number of finished actions. */
  readonly onDone: (done: number) => Promise<void>
}

/** An action that was refused or that the platform does not show as done. */
export interface Failure {
  readonly action: Action
  readonly code: string
  readonly message: string
}

/** Item of a batch request, with its action. */
interface Item {
  readonly action: Action
  readonly body: JsonObject
}

/**
 * Applies a plan in this order: users, courses, lessons, enrolments, progress, grades, deletions, then the changes
 * that close records. Returns the refused actions, which wrote nothing; the next plan contains them again.
 */
export async function applyPlan(applying: Applying, plan: Plan): Promise<readonly Failure[]> {
  const { names, pacing, signal } = applying
  const failures = new Map<Action, Failure>()
  const refusals = createRefusals()
  /** Changes that close records, sent after all other writes. */
  const late: Item[] = []
  /** Changes that publish courses, sent after their lessons. */
  const publishings: Item[] = []
  const busy = busyIn(plan)
  let done = 0
  const tell = async (count: number) => {
    done += count
    await applying.onDone(done)
  }

  for (const action of plan.closed) {
    const { opening, closing } = stagesOf(action, {}, busy)
    if (!opening || !closing) continue
    if (await attempt(action, () => put(action, opening))) late.push({ action, body: closing })
  }
  for (const part of parts) {
    const dataset = await loadPart(part)
    const own = plan.actions.filter((action) => action.dataset === part && action.kind !== 'delete')
    if (part === 'progress') await writeProgress(dataset, own)
    else await writeRecords(dataset, own)
    if (part === 'courses') names.forgetCourses()
    if (part !== 'lessons') continue
    await settleLessons(applying, plan.lessonPlaces)
    const refused = new Set([...failures.keys()].map(courseKeyOf))
    for (const { action, body } of publishings) {
      if (!refused.has(action.key)) await attempt(action, () => put(action, body))
    }
  }
  for (const action of plan.actions.filter(({ kind }) => kind === 'delete')) {
    const { current } = action
    const dataset = await loadPart(action.dataset)
    await attempt(action, async () => {
      if (current) await deleteRecord(applying, dataset, current, versionOf(current))
    })
    await tell(1)
  }
  for (const { action, body } of late.toSorted((one, other) => rank(other) - rank(one))) {
    await attempt(action, () => put(action, body))
  }
  return plan.actions.concat(plan.closed).flatMap((action) => failures.get(action) ?? [])

  async function attempt(action: Action, work: () => Promise<unknown>): Promise<boolean> {
    signal.throwIfAborted()
    try {
      await work()
      refusals.reset()
      return true
    } catch (error) {
      fail(action, refusals.of(error))
      return false
    }
  }

  function fail(action: Action, refusal: Refusal): void {
    failures.set(action, { action, code: refusal.code, message: messageOf(refusal) })
  }

  /** Sends updates concurrently, then creations: these may need a name that an update frees. */
  async function writeRecords(dataset: PartDataset, actions: readonly Action[]): Promise<void> {
    const many: Item[] = []
    const single: { readonly action: Action; readonly write: () => Promise<void> }[] = []
    for (const action of actions) {
      const work = await workOn(dataset, action)
      if (work === null) continue
      if ('body' in work) many.push(work)
      else if (action.kind === 'update' || dataset.name === 'lessons')
        await pacing.run(work.write, lanesOf(action))
      else single.push(work)
    }
    await pacing.settled()
    await inRequests(dataset, many)
    for (const { write } of single) await pacing.run(write)
    await pacing.settled()
  }

  /** Adds the work for one record: an item of a batch, or a request of its own. */
  async function workOn(
    dataset: PartDataset,
    action: Action,
  ): Promise<Item | { readonly action: Action; readonly write: () => Promise<void> } | null> {
    const { entry, current, kind, changes } = action
    if (!entry) return null
    const whole = isSet(dataset)
    const given =
      kind === 'create'
        ? entry.record
        : whole
          ? await mended(dataset, action)
          : changedPart(entry.record, changes)
    const restored = changes.find(({ field, from }) => field === 'status' && from === 'deleted')
    const { opening, record, publishing, closing } = stagesOf(
      action,
      restored ? { ...given, status: restored.to } : given,
      busy,
    )
    if (publishing) publishings.push({ action, body: publishing })
    if (closing) late.push({ action, body: closing })
    if ((kind === 'create' || whole) && applying.batched.has(dataset.name)) return { action, body: record }
    const write = async () => {
      await attempt(action, async () => {
        if (opening) await put(action, opening)
        if (kind === 'create' || whole) await create(dataset, record)
        else if (Object.keys(record).length > 0) {
          const body = await dataset.toBody({ ...identityOf(action), ...record }, current, names)
          const guarded = opening === null && dataset.name !== 'lessons'
          await put(action, body, guarded ? versionOf(current) : undefined)
        }
      })
      await tell(1)
    }
    return { action, write }
  }

  /** Returns a record to send as a whole: the declared fields, and the current ones for the rest except the time. */
  async function mended(dataset: PartDataset, { entry, current }: Action): Promise<JsonObject> {
    const { gradedAt: _, ...there } = current ? await dataset.toRecord(current, names) : {}
    return { ...there, ...entry?.record }
  }

  async function inRequests(dataset: PartDataset, items: Iterable<Item>): Promise<void> {
    const batcher = createBatcher<Item>(batchSize, ({ body }) => body)
    const send = async (batch: readonly Item[]) => {
      signal.throwIfAborted()
      const bodies = batch.map(({ body }) => body)
      const results = await writeBatch(applying, dataset, bodies, 'update')
      for (const [index, result] of results.entries()) {
        const action = batch[index]?.action
        // Stale progress was written by an earlier apply that was interrupted before the answer.
        if (action && result.kind === 'failed' && result.code !== 'stale_progress') fail(action, result)
      }
      await tell(new Set(batch.map(({ action }) => action)).size)
    }
    for (const item of items) {
      const full = batcher.add(item)
      if (full) await send(full)
    }
    const rest = batcher.rest()
    if (rest.length > 0) await send(rest)
  }

  async function writeProgress(dataset: PartDataset, actions: readonly Action[]): Promise<void> {
    const stepsOf = (action: Action) =>
      (action.entry ? missingSteps(action.entry, action.current) : []).map((body) => ({ action, body }))
    if (applying.batched.has(dataset.name)) return inRequests(dataset, actions.flatMap(stepsOf))
    for (const action of actions) {
      await pacing.run(async () => {
        for (const { body } of stepsOf(action)) {
          if (!(await attempt(action, () => createRecord(applying, dataset, body)))) break
        }
        await tell(1)
      })
    }
    await pacing.settled()
  }

  async function create(dataset: PartDataset, record: JsonObject): Promise<void> {
    try {
      await createRecord(applying, dataset, record)
    } catch (error) {
      const restored = await restoreLesson(applying, dataset, record, error)
      if (!restored) throw error
      await updateRecord(applying, dataset, restored, await dataset.toBody(record, restored, names))
    }
  }

  /** Updates a record that existed before or was created by this plan. */
  async function put({ dataset: part, current, entry }: Action, body: JsonObject, ifMatch?: number) {
    const dataset = await loadPart(part)
    const made = entry && !current ? findShown(applying.caller, dataset, entry.record, signal) : null
    const shown = current ?? (await made)
    if (shown) await updateRecord(applying, dataset, shown, body, ifMatch)
  }
}

/** Returns the lanes of an action, which order the lessons of one course and users that pass on a name. */
function lanesOf({ dataset, entry, changes }: Action): readonly string[] {
  if (dataset === 'users') return uniqueNames(changes)
  if (dataset !== 'lessons') return []
  const moved = changes.filter(({ field }) => field === 'courseId').map(({ from }) => String(from))
  return [String(entry?.record['courseId']), ...moved]
}

/** Returns the key of the course of a course or lesson action; null for others. */
function courseKeyOf({ dataset, entry, key }: Action): string | null {
  if (dataset === 'courses') return key
  return dataset === 'lessons' ? String(entry?.record['courseId']) : null
}

/** Returns the rank of a closing: enrolments close before users, users before courses. */
function rank({ action }: Item): number {
  return ['courses', 'users', 'enrollments'].indexOf(action.dataset)
}

/** Returns the body that changes only these fields; objects contain only declared members. */
function changedPart(record: JsonObject, changes: readonly Change[]): JsonObject {
  const fields = new Set(changes.map(({ field }) => field.split('.', 1)[0] ?? field))
  return Object.fromEntries(Object.entries(record).filter(([field]) => fields.has(field)))
}

/** Returns the fields that a body needs besides the changes: lessons name modules of their course. */
function identityOf({ dataset, entry }: Action): JsonObject {
  return dataset === 'lessons' && entry ? { courseId: entry.record['courseId'] } : {}
}

/** Returns the message of a refusal, with fields of the file instead of the API's pointers. */
function messageOf({ faults, detail }: Refusal): string {
  if (faults.length === 0) return detail
  return faults.map(({ pointer, detail }) => `${fieldPath(String(pointer ?? ''))} ${detail}`).join('; ')
}
