import { ApiError } from '../../client/errors.ts'
import type { JsonObject } from '../../codec/json-text.ts'
import { calls } from '../../contract/calls.ts'
import { maxPlannedWrites } from '../../contract/constants.ts'
import type { PlannedNoun, PlannedStep, PlanOutcome, RefusedStep } from '../../contract/plans.ts'
import { fieldPath } from '../operation/refused-call.ts'
import type { BulkChange } from '../session/bulk-change.ts'
import type { Part } from './entries.ts'
import { batchSize, createBatcher, type Writer } from './write.ts'

/** A step of a plan, and what it is a part of. */
export interface Write<From> {
  readonly noun: PlannedNoun
  readonly action: PlannedStep['action']
  readonly id?: unknown
  /** Version that the record must have; undefined for any. */
  readonly version?: number | undefined
  readonly record?: JsonObject
  readonly from: From
}

export const nounOf = {
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

/** Why a write was refused, in the words of the API, with the fields of files. */
export interface RefusedWrite<From> {
  readonly from: From
  readonly code: string
  readonly message: string
}

export interface CarriedOut<From> {
  /** Number of writes that were carried out, refused ones included. */
  readonly done: number
  readonly refused: readonly RefusedWrite<From>[]
  /** Writes that restored a deleted record in place of a new one. */
  readonly restored: readonly From[]
  /** Ids of the records that were created or changed, in order. */
  readonly ids: readonly string[]
}

/** Writes that the server keeps until they are carried out. */
export interface Staged<From> {
  /** Says what would be refused; null where that is not known before: there are too many writes, or the caller may not write. */
  trial(): Promise<CarriedOut<From> | null>
  /** Carries them out together, up to 2,000 in a transaction; stops before a transaction with a refused one, unless these are left out. */
  carryOut(how: {
    readonly skipsRefused: boolean
    readonly onDone?: (done: number) => Promise<void>
  }): Promise<CarriedOut<From>>
  drop(): Promise<void>
}

/** Maximum size of a request that adds steps. */
const partSize = { ...batchSize, records: 1000 }

/** Sends the writes of a change to the server, which keeps them for a day. */
export async function stage<From>(
  { caller, signal }: Pick<Writer, 'caller' | 'signal'>,
  { command, source }: BulkChange,
  writes: readonly Write<From>[],
): Promise<Staged<From>> {
  const { data: plan } = await caller.call(calls.plans.create, { body: { command, source }, signal })
  const params = { planId: plan.id }
  const batcher = createBatcher<JsonObject>(partSize, (step) => step)
  let sent = 0
  const send = async (steps: readonly JsonObject[] | null) => {
    if (!steps || steps.length === 0) return
    await caller.call(calls.plans.addSteps, {
      params: { ...params, stepNumber: String(sent) },
      body: { steps } as never,
      signal,
    })
    sent += steps.length
  }
  for (const { noun, action, id = null, version = null, record = {} } of writes) {
    await send(batcher.add({ noun, action, id, version, record }))
  }
  await send(batcher.rest())

  const run = async (isTrial: boolean, skipsRefused: boolean): Promise<PlanOutcome> => {
    const body = { isTrial, skipsRefused }
    return (await caller.call(calls.plans.carryOut, { params, body, signal })).data
  }
  const fromOf = (step: number) => {
    const write = writes[step]
    if (!write) throw new RangeError(`the plan has no step ${step}`)
    return write.from
  }
  const read = ({ done, refused, restored, ids }: PlanOutcome): CarriedOut<From> => ({
    done,
    refused: refused.map(({ step, ...refusal }) => ({
      from: fromOf(step),
      ...refusal,
      message: messageOf(refusal),
    })),
    restored: restored.map(fromOf),
    ids,
  })

  return {
    async trial() {
      if (writes.length > maxPlannedWrites) return null
      return read(await run(true, true))
    },
    async carryOut({ skipsRefused, onDone }) {
      const refused: RefusedWrite<From>[] = []
      const restored: From[] = []
      const ids: string[] = []
      for (;;) {
        const outcome = await run(false, skipsRefused)
        const part = read(outcome)
        refused.push(...part.refused)
        restored.push(...part.restored)
        ids.push(...part.ids)
        await onDone?.(outcome.done)
        const isStopped = part.refused.length > 0 && !skipsRefused
        if (outcome.isComplete || isStopped) return { done: part.done, refused, restored, ids }
      }
    },
    async drop() {
      // It is deleted after a day anyway.
      await caller.call(calls.plans.delete, { params, signal }).catch(() => {})
    },
  }
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

/** Returns the message of a refusal, with fields of the file instead of the API's pointers. */
function messageOf({ errors, message }: Omit<RefusedStep, 'step'>): string {
  if (errors.length === 0) return message
  return errors.map(({ pointer, detail }) => `${fieldPath(pointer)} ${detail}`).join('; ')
}
