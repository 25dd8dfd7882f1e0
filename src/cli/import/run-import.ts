import { ApiError, NotOfferedError } from '../../client/errors.ts'
import { isJsonObject } from '../../codec/json-object.ts'
import { platformName } from '../../config/target.ts'
import { calls } from '../../contract/calls.ts'
import type { Context } from '../command/context.ts'
import type { Dataset } from '../dataset/dataset.ts'
import { createNames } from '../dataset/names.ts'
import { createProgressLine } from '../terminal/progress-line.ts'
import { checkFile } from './check-file.ts'
import { writeErrors } from './errors-file.ts'
import type { ColumnMap } from './header.ts'
import type { ImportFile } from './import-file.ts'
import { type Beginning, openJournal } from './journal.ts'
import { type Counts, countsOf, type Outcome, sumOf, totalOf } from './outcome.ts'
import { createPacing } from './pacing.ts'
import { readRows } from './read-rows.ts'
import type { Row, Rows } from './row.ts'
import { type OnExists, type Sending, sendBatch, sendSingly } from './send-unit.ts'
import { type Unit, unitsOf } from './unit.ts'

/** What is imported, and how. */
export interface Import {
  readonly dataset: Dataset
  readonly file: ImportFile
  readonly map: ColumnMap
  readonly delimiter: string | undefined
  readonly onExists: OnExists
  readonly skipInvalid: boolean
  readonly beginning: Beginning
  readonly concurrency: number
  /** Where rejected rows are written. */
  readonly errorsFile: string
}

/** What an import came to. */
export interface Imported {
  readonly counts: Counts
  /** Rows read; the counts add up to it. */
  readonly rows: number
  /** Where the rejected rows are; null where there are none. */
  readonly errorsFile: string | null
}

const batchSize = { rows: 500, characters: 700_000 }
const singleSize = { rows: 1, characters: Number.POSITIVE_INFINITY }

/**
 * Checks the whole file, then sends it, unit after unit, each noted in the journal when its answer is there. What is
 * interrupted goes on with `resume`: nothing is sent twice, and nothing is missed.
 */
export async function runImport(context: Context, wanted: Import): Promise<Imported> {
  const { io, session, directories } = context
  const { dataset, file, onExists, skipInvalid } = wanted
  const local = session.target().kind === 'local'
  const partial = onExists === 'update'
  const rowsOf = () => readRows(file, dataset, wanted.map, wanted.delimiter)
  const { rows, invalid } = await checkFile(file.name, dataset, await rowsOf(), {
    partial,
    local,
    skipInvalid,
  })

  const pacing = createPacing(dataset.operations.update && !local ? wanted.concurrency : 1)
  const caller = await session.caller({ onWait: () => pacing.slowDown() })
  const sending: Sending = {
    caller,
    dataset,
    names: createNames(caller, io.signal),
    onExists,
    signal: io.signal,
  }
  const batched = await takesBatches(context, sending)
  const journal = await openJournal(
    io,
    directories.state,
    {
      target: platformName(session.target()),
      dataset: dataset.name,
      source: file.path ?? `standard input ${file.hash}`,
      hash: file.hash,
      options: {
        onExists,
        skipInvalid,
        batched,
        map: [...wanted.map],
        format: file.format,
        charset: file.charset,
      },
    },
    wanted.beginning,
  )
  const line = await createProgressLine(io, 'rows', rows)
  try {
    const left = countsOf([...invalid.values()])
    const send = batched ? sendBatch : sendSingly
    const size = batched ? batchSize : singleSize
    for await (const unit of unitsOf(valid(await rowsOf(), invalid), size)) {
      io.signal.throwIfAborted()
      if (journal.isDone(unit.index)) continue
      await pacing.run(() => sendUnit(unit))
      await line.update(totalOf(journal.counts))
    }
    await pacing.settled()
    line.stop()

    const counts = sumOf(journal.counts, left)
    const rejections = [...journal.rejections, ...invalid.values()]
    if (rejections.length > 0) await writeErrors(io.cwd, wanted.errorsFile, await rowsOf(), rejections)
    journal.remove()
    return { counts, rows, errorsFile: rejections.length > 0 ? wanted.errorsFile : null }

    async function sendUnit(unit: Unit): Promise<void> {
      const mayBeDone = journal.wasBegun(unit.index)
      if (!mayBeDone) journal.begin(unit.index)
      const outcomes: Outcome[] = await send(sending, unit, {
        idempotencyKey: `${journal.id}-${unit.index}`,
        mayBeDone,
      })
      journal.finish(unit.index, outcomes)
    }
  } catch (error) {
    // What has been sent and not answered yet may still be noted.
    await pacing.settled().catch(() => {})
    throw error
  } finally {
    line.stop()
    journal.close()
  }
}

async function* valid({ rows }: Rows, invalid: ReadonlyMap<number, unknown>): AsyncGenerator<Row> {
  for await (const row of rows) if (!invalid.has(row.line)) yield row
}

/** True where many rows go in one request: a local academy takes them, a platform says so in its OpenAPI document. */
async function takesBatches({ session }: Context, { caller, dataset, signal }: Sending): Promise<boolean> {
  const { batch } = dataset.operations
  if (!batch) return false
  if (session.target().kind === 'local') return true
  try {
    const { data } = await caller.call(calls.service.openapi, { signal })
    const paths: unknown = data['paths']
    return isJsonObject(paths) && Object.hasOwn(paths, batch.path)
  } catch (error) {
    if (error instanceof NotOfferedError || error instanceof ApiError) return false
    throw error
  }
}
