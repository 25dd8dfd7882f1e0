import { basename } from 'node:path'
import type { Context } from '../command/context.ts'
import type { Dataset } from '../dataset/dataset.ts'
import { createNames } from '../dataset/names.ts'
import { createWriteNotes } from '../operation/write-notes.ts'
import type { BulkChange } from '../session/bulk-change.ts'
import { createPacing, type Pacing } from '../session/pacing.ts'
import { pluralise } from '../terminal/format-text.ts'
import type { Outcome, Step } from './step.ts'
import {
  type BatchSize,
  batchSize,
  createBatcher,
  createRefusals,
  type OnExists,
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
  readonly dataset: Dataset
  /** Receives the outcomes of steps that were sent together, in order. */
  readonly finish: (steps: readonly Step<From>[], outcomes: readonly Outcome[]) => Promise<void> | void
  /** Sends a step that is not one of a batch. */
  readonly put: (step: Step<From>) => Promise<Outcome>
  /** Whether a batch updates, skips or refuses records that exist. */
  readonly onExists: OnExists
}

interface Executor<From> {
  /**
   * Sends steps and waits for all answers. Refusals of single records are outcomes; any other fault ends the work and is
   * thrown when the requests under way have ended.
   *
   * @param size maximum size of a batch; `singly` makes each step a request of its own
   */
  run(steps: AsyncIterable<readonly Step<From>[]> | readonly Step<From>[], size: BatchSize): Promise<void>
}

/** The only loop that sends records one by one, or batch by batch. */
export function createExecutor<From>(executing: Executing<From>): Executor<From> {
  const { dataset, pacing, signal, finish, put, onExists } = executing
  const refusals = createRefusals()

  return {
    async run(steps, size) {
      try {
        for await (const units of unitsOf(Symbol.asyncIterator in steps ? steps : [steps], size)) {
          for (const unit of units) {
            signal.throwIfAborted()
            const lanes = [...new Set(unit.flatMap(({ lanes }) => lanes))]
            await pacing.run(async () => finish(unit, await send(unit, size !== singly)), lanes)
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

  async function send(steps: readonly Step<From>[], isBatch: boolean): Promise<readonly Outcome[]> {
    if (!isBatch) return Promise.all(steps.map(sendSingly))
    const items = steps.map(({ record }) => ({
      ...dataset.presumed,
      ...(dataset.toItem?.(record) ?? record),
    }))
    return writeBatch(executing, dataset, items, onExists)
  }

  async function sendSingly(step: Step<From>): Promise<Outcome> {
    try {
      const outcome = await put(step)
      refusals.reset()
      return outcome
    } catch (error) {
      return { kind: 'failed', ...refusals.of(error), error }
    }
  }
}

/** Groups steps into batches; yields all batches of a chunk at once. */
async function* unitsOf<From>(
  chunks: AsyncIterable<readonly Step<From>[]> | Iterable<readonly Step<From>[]>,
  size: BatchSize,
): AsyncGenerator<readonly (readonly Step<From>[])[]> {
  const batcher = createBatcher<Step<From>>(size, ({ record }) => record)
  for await (const steps of chunks) {
    yield steps.flatMap((step) => {
      const full = batcher.add(step)
      return full ? [full] : []
    })
  }
  const rest = batcher.rest()
  if (rest.length > 0) yield [rest]
}

/** Each step in a request of its own. */
export const singly: BatchSize = { ...batchSize, records: 1 }
