import type { JsonObject } from '../../codec/json-object.ts'
import { findShown } from '../dataset/find.ts'
import { fieldPath } from '../operation/field-path.ts'
import type { Change } from '../records/compare.ts'
import { restoreLesson } from '../records/restore-lessons.ts'
import {
  batchSize,
  createBatcher,
  createRecord,
  createRefusals,
  deleteRecord,
  type Refusal,
  updateRecord,
  versionOf,
  writeBatch,
} from '../records/write.ts'
import { busyIn, stagesOf } from './closing.ts'
import { isSet, type Part, parts } from './entry.ts'
import { settleLessons } from './lesson-places.ts'
import type { PartDataset } from './load-part.ts'
import { loadPart } from './load-part.ts'
import type { Action, Plan } from './plan.ts'
import { missingSteps } from './progress-steps.ts'
import type { Reader } from './reader.ts'
import { uniqueNames } from './renames.ts'

/** How a plan is applied. */
export interface Applying extends Reader {
  /** The datasets of which many records go in one request. */
  readonly batched: ReadonlySet<Part>
  /** Is told how many actions are done. */
  readonly onDone: (done: number) => Promise<void>
}

/** An action that was refused, or that the platform did not show to be done. */
export interface Failure {
  readonly action: Action
  readonly code: string
  readonly message: string
}

/** One of many items of one request, for an action. */
interface Item {
  readonly action: Action
  readonly body: JsonObject
}

/**
 * Does what a plan says: users, courses, lessons, enrolments, progress, grades, then what is to be deleted, then what closes records.
 * What was refused is given back; nothing of it was written, and a next plan has it again.
 */
export async function applyPlan(applying: Applying, plan: Plan): Promise<readonly Failure[]> {
  const { names, pacing, signal } = applying
  const failures = new Map<Action, Failure>()
  const refusals = createRefusals()
  /** What closes records to what was written before. */
  const late: Item[] = []
  /** What publishes courses after their lessons. */
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

  /** Changes side by side, then what is new: it may need a name that a change gives up. */
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

  /** What is to be done for one record: an item of a request, or a request of its own. */
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

  /** A record that is sent as a whole: what is declared, and else what is there, but for the time. */
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
        // Stale progress was written before, by an apply that was interrupted before it had the answer.
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

  /** Changes a record that is there, or that this plan has made. */
  async function put({ dataset: part, current, entry }: Action, body: JsonObject, ifMatch?: number) {
    const dataset = await loadPart(part)
    const made = entry && !current ? findShown(applying.caller, dataset, entry.record, signal) : null
    const shown = current ?? (await made)
    if (shown) await updateRecord(applying, dataset, shown, body, ifMatch)
  }
}

/** What keeps an action behind those before it: lessons of one course, and a name that one user gives up to another. */
function lanesOf({ dataset, entry, changes }: Action): readonly string[] {
  if (dataset === 'users') return uniqueNames(changes)
  if (dataset !== 'lessons') return []
  const moved = changes.filter(({ field }) => field === 'courseId').map(({ from }) => String(from))
  return [String(entry?.record['courseId']), ...moved]
}

/** The key of the course that an action is about, or whose lesson it is about; null for others. */
function courseKeyOf({ dataset, entry, key }: Action): string | null {
  if (dataset === 'courses') return key
  return dataset === 'lessons' ? String(entry?.record['courseId']) : null
}

/** Enrolments close before their users, and these before courses. */
function rank({ action }: Item): number {
  return ['courses', 'users', 'enrollments'].indexOf(action.dataset)
}

/** What is sent to change these fields alone: objects hold no more than what is declared of them. */
function changedPart(record: JsonObject, changes: readonly Change[]): JsonObject {
  const fields = new Set(changes.map(({ field }) => field.split('.', 1)[0] ?? field))
  return Object.fromEntries(Object.entries(record).filter(([field]) => fields.has(field)))
}

/** What a body is made with, besides what changes: lessons name modules of their course. */
function identityOf({ dataset, entry }: Action): JsonObject {
  return dataset === 'lessons' && entry ? { courseId: entry.record['courseId'] } : {}
}

/** A refusal in the words of the files: fields in place of the API's pointers. */
function messageOf({ faults, detail }: Refusal): string {
  if (faults.length === 0) return detail
  return faults.map(({ pointer, detail }) => `${fieldPath(String(pointer ?? ''))} ${detail}`).join('; ')
}
