import { basename } from 'node:path'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Context } from '../command/context.ts'
import type { Dataset } from '../dataset/dataset.ts'
import { findShown } from '../dataset/find.ts'
import { createNames } from '../dataset/names.ts'
import { shownRecord } from '../dataset/shown-records.ts'
import { createWriteNotes } from '../operation/write-notes.ts'
import type { BulkChange } from '../session/bulk-change.ts'
import { createPacing, type Pacing } from '../session/pacing.ts'
import { pluralise } from '../terminal/format-text.ts'
import { restoreTaken, takenIn } from './restore-deleted.ts'
import type { Attempt, Outcome, Step, Unit } from './step.ts'
import {
  type BatchSize,
  batchSize,
  createBatcher,
  createRecord,
  createRefusals,
  deleteRecord,
  type OnExists,
  updateRecord,
  type Writer,
  writeBatch,
} from './write.ts'

/** A platform that is opened for writing. */
export interface Writing extends Writer {
  /** Limits concurrent requests; slows down when the platform asks for that. */
  readonly pacing: Pacing
}

/**
 * Opens a platform for writing; a local academy handles one request at a time.
 *
 * @param change what makes the writes, so that they can be undone together; none for reading only
 */
export async function openWriting(
  { session, io: { signal, sleep } }: Pick<Context, 'session' | 'io'>,
  concurrency = 1,
  change?: BulkChange,
): Promise<Writing> {
  const maximum = session.target().kind === 'local' ? 1 : concurrency
  const pacing = createPacing(maximum, (ms) => sleep(ms, signal))
  const caller = await session.caller({
    change,
    onWait: ({ waitMs }) => pacing.slowDown(waitMs),
  })
  const names = createNames(caller, signal)
  return {
    ...{ caller, names, signal, pacing },
    notes: createWriteNotes(),
  }
}

/** Returns the source of a change that is made from files: the name of the only one, else their number. */
export function sourceOf(files: readonly string[]): string {
  const [first = ''] = files
  return files.length === 1 ? basename(first) : pluralise(files.length, 'file')
}

interface Executing<From> extends Writing {
  /** Receives the outcomes of a unit, one for each step that was sent, in order. */
  readonly finish: (unit: Unit<From>, outcomes: readonly Outcome[]) => Promise<void> | void
  /** Returns how to send a unit; by default each gets a new key. */
  readonly attemptOf?: (unit: Unit<From>) => Attempt
  /** Sends a single `put` step. */
  readonly put?: (step: Step<From>) => Promise<Outcome>
  /** Whether a batch updates, skips or refuses records that exist (default update). */
  readonly onExists?: OnExists
}

/** Sends steps and reports their outcomes. */
interface Executor<From> {
  /**
   * Sends the steps of a phase and waits for all answers. Refusals of single records are outcomes; any other fault
   * ends the phase and is thrown when the requests under way have ended.
   *
   * @param size maximum size of a batch; by default each step is a request of its own
   */
  run(steps: AsyncIterable<readonly Step<From>[]> | readonly Step<From>[], size?: BatchSize): Promise<void>
}

/** Creates an executor: the only loop that sends records. */
export function createExecutor<From>(executing: Executing<From>): Executor<From> {
  const { pacing, signal, finish, attemptOf } = executing
  const refusals = createRefusals()
  const refused = new WeakSet<Step<From>>()
  const numbers = { next: 0 }
  let hasRestored = false

  return {
    async run(steps, size = singly) {
      const isBatch = size !== singly
      try {
        for await (const units of unitsOf(Symbol.asyncIterator in steps ? steps : [steps], size, numbers)) {
          for (const unit of units) {
            signal.throwIfAborted()
            const attempt = attemptOf?.(unit)
            const lanes = [...new Set(unit.steps.flatMap(({ lanes = [] }) => lanes))]
            await pacing.run(() => send(unit, attempt, isBatch), lanes)
          }
        }
        await pacing.settled()
      } catch (error) {
        // Report the answers of requests that are still under way.
        await pacing.settled().catch(() => {})
        throw error
      }
    },
  }

  async function send(unit: Unit<From>, attempt: Attempt | undefined, isBatch: boolean): Promise<void> {
    const steps = unit.steps.filter((step) => !isLeft(step))
    const [first] = steps
    if (!first) return
    await attempt?.begin()
    const outcomes = isBatch
      ? await sendBatch(first.dataset, steps, attempt?.idempotencyKey)
      : [await sendSingly(first, attempt?.idempotencyKey)]
    for (const [index, step] of steps.entries()) if (outcomes[index]?.kind === 'failed') refused.add(step)
    await finish({ ...unit, steps }, outcomes)
  }

  /** True for a step that needs a refused one. */
  function isLeft(step: Step<From>): boolean {
    if (!step.needs || !refused.has(step.needs)) return false
    refused.add(step)
    return true
  }

  async function sendBatch(
    dataset: Dataset,
    steps: readonly Step<From>[],
    idempotencyKey: string | undefined,
  ): Promise<readonly Outcome[]> {
    const items = steps.map(({ deed, record }) => {
      const item = dataset.toItem?.(record) ?? record
      return deed === 'put' ? { ...dataset.presumed, ...item } : item
    })
    return writeBatch(executing, dataset, items, executing.onExists ?? 'update', idempotencyKey)
  }

  async function sendSingly(step: Step<From>, idempotencyKey: string | undefined): Promise<Outcome> {
    try {
      const outcome = await sendStep(step, idempotencyKey)
      refusals.reset()
      return outcome
    } catch (error) {
      return { kind: 'failed', ...refusals.of(error), error }
    }
  }

  async function sendStep(step: Step<From>, idempotencyKey: string | undefined): Promise<Outcome> {
    const { deed, dataset, record, version } = step
    if (deed === 'put') {
      if (!executing.put) throw new TypeError('the executor cannot put')
      return executing.put(step)
    }
    if (deed === 'create') return create(step, idempotencyKey)
    const current = step.current ?? (await createdBy(step))
    if (!current) return { kind: 'unchanged' }
    if (deed === 'delete') {
      await deleteRecord(executing, dataset, current, version)
      return { kind: 'deleted' }
    }
    const body = deed === 'patch' ? record : await dataset.toBody(record, current, executing.names)
    const { data } = await updateRecord(executing, dataset, current, body, version)
    return { kind: 'updated', shown: data }
  }

  async function create({ dataset, record }: Step<From>, idempotencyKey?: string): Promise<Outcome> {
    const { caller, names } = executing
    try {
      const result = await createRecord(executing, dataset, record, idempotencyKey)
      return { kind: 'created', shown: shownRecord(caller, dataset.operations.list, result) }
    } catch (error) {
      const restored = await restoreTaken(executing, dataset, record, error)
      hasRestored ||= restored !== null
      const shown = restored ?? (hasRestored ? await shownIn(dataset, error) : null)
      if (!shown) throw error
      const body = await dataset.toBody(record, shown, names)
      const { data } = await updateRecord(executing, dataset, shown, body)
      return { kind: 'updated', shown: data }
    }
  }

  /** Returns the record that an error names: a lesson that came back with its course. */
  async function shownIn(
    { operations: { get, params } }: Dataset,
    error: unknown,
  ): Promise<JsonObject | null> {
    const taken = takenIn(error)
    if (!taken || !get) return null
    const { data } = await executing.caller.call<Operation>(get, { params: params({ ...taken }), signal })
    return isJsonObject(data) ? data : null
  }

  /** Returns the record that an earlier phase created. */
  async function createdBy({ dataset, created }: Step<From>) {
    return created ? findShown(executing.caller, dataset, created, signal) : null
  }
}

/**
 * Groups steps into units; yields all units of a chunk at once.
 *
 * @param numbers counter of the units
 */
async function* unitsOf<From>(
  chunks: AsyncIterable<readonly Step<From>[]> | Iterable<readonly Step<From>[]>,
  size: BatchSize,
  numbers: { next: number },
): AsyncGenerator<readonly Unit<From>[]> {
  const batcher = createBatcher<Step<From>>(size, ({ record }) => record)
  const unitOf = (steps: readonly Step<From>[]): Unit<From> => ({ number: numbers.next++, steps })
  for await (const steps of chunks) {
    yield steps.flatMap((step) => {
      const full = batcher.add(step)
      return full ? [unitOf(full)] : []
    })
  }
  const rest = batcher.rest()
  if (rest.length > 0) yield [unitOf(rest)]
}

/** Each step in a request of its own. */
export const singly: BatchSize = { ...batchSize, records: 1 }
