import { ApiError } from '../../client/errors.ts'
import type { JsonObject } from '../../codec/json-text.ts'
import { calls } from '../../contract/calls.ts'
import { maxPlannedWrites } from '../../contract/constants.ts'
import type { PlanOutcome, RefusedStep } from '../../contract/plans.ts'
import { fieldPath } from '../operation/refused-call.ts'
import { thingName } from '../operation/thing-name.ts'
import type { BulkChange } from '../session/bulk-change.ts'
import { nouns } from './entries.ts'
import type { Action, Plan } from './plan.ts'
import { type PlannedWrite, writesOf } from './plan-writes.ts'
import { batchSize, createBatcher, type Writer } from './write.ts'

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

/** Sends a plan to the server, which keeps it for a day. */
export async function stagePlan(
  { caller, names, notes, signal }: Writer,
  { command, source }: BulkChange,
  plan: Plan,
): Promise<StagedPlan> {
  const writes = await writesOf(names, plan)
  const { data: made } = await caller.call(calls.plans.create, { body: { command, source }, signal })
  const params = { planId: made.id }
  let sent = 0
  for (const steps of batchesOf(writes)) {
    await caller.call(calls.plans.addSteps, {
      params: { ...params, stepNumber: String(sent) },
      body: { steps } as never,
      signal,
    })
    sent += steps.length
  }

  const run = async (isTrial: boolean, skipsRefused: boolean): Promise<PlanOutcome> => {
    const body = { isTrial, skipsRefused }
    return (await caller.call(calls.plans.carryOut, { params, body, signal })).data
  }
  const actionsAt = (steps: readonly number[]) => steps.flatMap((step) => writes[step]?.from ?? [])

  return {
    size: writes.length,
    async trial() {
      if (writes.length > maxPlannedWrites) return null
      const { refused, restored } = await run(true, true)
      return {
        failures: failuresOf(plan, writes, refused),
        restored: restoredNotes('Restores', actionsAt(restored)),
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
        await onDone?.(part.done)
        const isStopped = part.refused.length > 0 && !skipsRefused
        if (!part.isComplete && !isStopped) continue
        for (const text of restoredNotes('Restored', actionsAt(restored))) notes.add(text)
        const failures = failuresOf(plan, writes, refused)
        const done = new Set(writes.slice(0, part.done).flatMap(({ from }) => from ?? []))
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

function* batchesOf(writes: readonly PlannedWrite[]): Generator<readonly JsonObject[]> {
  const batcher = createBatcher<JsonObject>(partSize, (step) => step)
  for (const { noun, action, id = null, version = null, record = {} } of writes) {
    const full = batcher.add({ noun, action, id, version, record })
    if (full) yield full
  }
  const rest = batcher.rest()
  if (rest.length > 0) yield rest
}

/** Returns the failures in the order of the plan, one for each action. */
function failuresOf(
  plan: Plan,
  writes: readonly PlannedWrite[],
  refused: readonly RefusedStep[],
): readonly Failure[] {
  const failures = new Map<Action, Failure>()
  for (const { step, code, ...refusal } of refused) {
    const action = writes[step]?.from
    if (action && !failures.has(action)) failures.set(action, { action, code, message: messageOf(refusal) })
  }
  return plan.actions.flatMap((action) => failures.get(action) ?? [])
}

/** Returns the message of a refusal, with fields of the file instead of the API's pointers. */
function messageOf({ errors, message }: Pick<RefusedStep, 'errors' | 'message'>): string {
  if (errors.length === 0) return message
  return errors.map(({ pointer, detail }) => `${fieldPath(pointer)} ${detail}`).join('; ')
}

/** Maximum restored records to name. */
const maxNamed = 10

/** Returns a sentence about the restored records, without lessons that came back with their course; none without any. */
function restoredNotes(verb: string, actions: readonly Action[]): string[] {
  const courses = new Set(actions.flatMap(({ dataset, key }) => (dataset === 'courses' ? [key] : [])))
  const named = actions
    .filter(({ dataset, entry }) => dataset !== 'lessons' || !courses.has(String(entry?.record['courseId'])))
    .map(({ dataset, entry }) => `${nouns[dataset]} ${thingName(entry?.record ?? {})}`)
  if (named.length === 0) return []
  const more = named.length > maxNamed ? ` and ${named.length - maxNamed} more` : ''
  return [`${verb} from the trash: ${named.slice(0, maxNamed).join(', ')}${more}`]
}

/** Returns null for a caller who may not write. */
export async function whereAllowed<Result>(work: () => Promise<Result>): Promise<Result | null> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return null
    throw error
  }
}
