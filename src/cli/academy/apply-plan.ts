import { isJsonObject, type JsonObject } from '../../codec/json-object.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Change } from '../records/compare.ts'
import { type Busy, busyIn, stagesOf } from './closing.ts'
import { isSet, type Part, parts } from './entry.ts'
import { settleLessons } from './lesson-places.ts'
import type { PartDataset } from './load-part.ts'
import { loadPart } from './load-part.ts'
import type { Action, Plan } from './plan.ts'
import { missingSteps } from './progress-steps.ts'
import type { Reader } from './reader.ts'
import { type Failure, failureOf, type Item, requestsOf, sendItems } from './send.ts'

/** How a plan is applied. */
export interface Applying extends Reader {
  /** The datasets of which many records go in one request. */
  readonly batched: ReadonlySet<Part>
  /** Is told how many actions are done. */
  readonly onDone: (done: number) => Promise<void>
}

/** What was written last, after everything else: it closes records to what was written before. */
interface Late {
  readonly action: Action
  readonly body: JsonObject
}

/**
 * Does what a plan says: users, courses, lessons, enrolments, progress, grades, then what is to be deleted, then what closes records.
 * What was refused is given back; nothing of it was written, and a next plan has it again.
 */
export async function applyPlan(applying: Applying, plan: Plan): Promise<readonly Failure[]> {
  const failures: Failure[] = []
  const late: Late[] = []
  const busy = busyIn(plan)
  let done = 0
  const tell = async (count: number) => {
    done += count
    await applying.onDone(done)
  }

  for (const action of plan.closed) {
    const { opening, closing } = stagesOf(action, {}, busy)
    if (!opening || !closing) continue
    const dataset = await loadPart(action.dataset)
    if (await attempt(action, () => put(applying, dataset, action, opening)))
      late.push({ action, body: closing })
  }
  for (const part of parts) {
    const dataset = await loadPart(part)
    const own = plan.actions.filter((action) => action.dataset === part && action.kind !== 'delete')
    if (part === 'progress') await writeProgress(dataset, own)
    else await writeRecords(dataset, own)
    if (part === 'courses') applying.names.forgetCourses()
    if (part === 'lessons') await settleLessons(applying, plan.lessonPlaces)
  }
  for (const action of plan.actions.filter(({ kind }) => kind === 'delete')) {
    const dataset = await loadPart(action.dataset)
    await attempt(action, () => remove(applying, dataset, action))
    await tell(1)
  }
  for (const { action, body } of late.toSorted((one, other) => rank(other) - rank(one))) {
    const dataset = await loadPart(action.dataset)
    await attempt(action, () => put(applying, dataset, action, body))
  }
  return failures

  async function attempt(action: Action, work: () => Promise<void>): Promise<boolean> {
    applying.signal.throwIfAborted()
    try {
      await work()
      return true
    } catch (error) {
      failures.push(failureOf(action, error))
      return false
    }
  }

  async function writeRecords(dataset: PartDataset, actions: readonly Action[]): Promise<void> {
    const many: Item[] = []
    const single: (() => Promise<void>)[] = []
    for (const action of actions) {
      const work = await workOn(dataset, action, busy)
      if (work === null) continue
      if ('body' in work) many.push(work)
      // The order counts among updates, and among lessons.
      else if (action.kind === 'update' || dataset.name === 'lessons') await work.write()
      else single.push(work.write)
    }
    await inRequests(dataset, many)
    for (const write of single) await applying.pacing.run(write)
    await applying.pacing.settled()
  }

  /** What is to be done for one record: an item of a request, or a request of its own. */
  async function workOn(
    dataset: PartDataset,
    action: Action,
    busy: Busy,
  ): Promise<Item | { write: () => Promise<void> } | null> {
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
    const { opening, record, closing } = stagesOf(
      action,
      restored ? { ...given, status: restored.to } : given,
      busy,
    )
    if (closing) late.push({ action, body: closing })
    if ((kind === 'create' || whole) && applying.batched.has(dataset.name)) return { action, body: record }
    const write = async () => {
      await attempt(action, async () => {
        if (opening) await put(applying, dataset, action, opening)
        if (kind === 'create' || whole) await create(applying, dataset, record)
        else if (Object.keys(record).length > 0) {
          const body = await dataset.toBody({ ...identityOf(action), ...record }, current, applying.names)
          const guarded = opening === null && dataset.name !== 'lessons'
          await put(applying, dataset, action, body, guarded ? current?.['version'] : undefined)
        }
      })
      await tell(1)
    }
    return { write }
  }

  /** A record that is sent as a whole: what is declared, and else what is there, but for the time. */
  async function mended(dataset: PartDataset, { entry, current }: Action): Promise<JsonObject> {
    const { gradedAt: _, ...there } = current ? await dataset.toRecord(current, applying.names) : {}
    return { ...there, ...entry?.record }
  }

  async function inRequests(dataset: PartDataset, items: Iterable<Item>): Promise<void> {
    const { batch } = dataset.operations
    for (const request of requestsOf(items)) {
      if (!batch) throw new TypeError(`${dataset.name} have no batch`)
      applying.signal.throwIfAborted()
      failures.push(...(await sendItems(applying.caller, batch, request, applying.signal)))
      await tell(new Set(request.map(({ action }) => action)).size)
    }
  }

  async function writeProgress(dataset: PartDataset, actions: readonly Action[]): Promise<void> {
    const items = function* (of: readonly Action[]): Generator<Item> {
      for (const action of of) {
        for (const body of action.entry ? missingSteps(action.entry, action.current) : [])
          yield { action, body }
      }
    }
    if (applying.batched.has(dataset.name)) {
      await inRequests(dataset, items(actions))
      return
    }
    for (const action of actions) {
      await applying.pacing.run(async () => {
        for (const { body } of items([action])) {
          if (!(await attempt(action, () => create(applying, dataset, body)))) break
        }
        await tell(1)
      })
    }
    await applying.pacing.settled()
  }
}

/** Enrolments close before their users, and these before courses. */
function rank({ action }: Late): number {
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

async function create(
  { caller, names, notes, signal }: Applying,
  dataset: PartDataset,
  record: JsonObject,
): Promise<void> {
  const { create, params, update } = dataset.operations
  const body = await dataset.toBody(record, null, names)
  // Progress is set where its learner is.
  const made = await caller.call<Operation>(create, { params: update ? {} : params(record), body, signal })
  notes.take(made.written)
}

async function put(
  { caller, notes, signal }: Applying,
  { operations }: PartDataset,
  { current, entry, key }: Action,
  body: JsonObject,
  version?: unknown,
): Promise<void> {
  if (!operations.update) throw new TypeError(`${key} cannot be updated`)
  const found = current ?? (entry ? await createdAs(entry.record) : null)
  if (!found) return
  const ifMatch = typeof version === 'number' ? version : undefined
  const input = { params: operations.params(found), body, ifMatch, signal }
  notes.take((await caller.call<Operation>(operations.update, input)).written)

  /** A record that was made by this plan. */
  async function createdAs(record: JsonObject): Promise<JsonObject | null> {
    const { findShown } = await import('../dataset/find.ts')
    const dataset = await loadPart(entry?.dataset ?? 'users')
    return findShown(caller, dataset, record, signal)
  }
}

async function remove(
  { caller, signal }: Applying,
  { operations }: PartDataset,
  { current }: Action,
): Promise<void> {
  if (!operations.delete || !isJsonObject(current)) return
  const version = current['version']
  const ifMatch = typeof version === 'number' ? version : undefined
  try {
    await caller.call<Operation>(operations.delete, { params: operations.params(current), ifMatch, signal })
  } catch (error) {
    // Somebody else was faster.
    if (!(error instanceof Error && 'status' in error && error.status === 404)) throw error
  }
}
