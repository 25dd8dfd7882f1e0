import type { Caller } from '../../client/caller.ts'
import { ApiError } from '../../client/errors.ts'
import { isJsonObject } from '../../codec/json-object.ts'
import type { Operation } from '../../contract/operation.ts'
import { type Dataset, keyOf, RecordError } from '../dataset/dataset.ts'
import { findShown } from '../dataset/find.ts'
import type { Names } from '../dataset/names.ts'
import { fieldPath } from '../operation/field-path.ts'
import { CommandError } from '../terminal/errors.ts'
import type { Outcome } from './outcome.ts'
import type { Row } from './row.ts'
import type { Unit } from './unit.ts'

/** What happens to a row whose record is there already. */
export const existsModes = ['update', 'skip', 'fail'] as const
export type OnExists = (typeof existsModes)[number]

/** What sending needs. */
export interface Sending {
  readonly caller: Caller
  readonly dataset: Dataset
  readonly names: Names
  readonly onExists: OnExists
  readonly signal: AbortSignal
}

/** What is known of a unit before it is sent. */
export interface Attempt {
  /** The same for the same unit of the same import. */
  readonly idempotencyKey: string
  /** It may have been sent before, by a process that ended before it had an answer. */
  readonly mayBeDone: boolean
}

/** Sends a unit as one request; the server judges each row by itself. */
export async function sendBatch(
  { caller, dataset, onExists, signal }: Sending,
  { rows }: Unit,
  { idempotencyKey }: Attempt,
): Promise<Outcome[]> {
  const { batch } = dataset.operations
  if (!batch) throw new TypeError(`${dataset.name} have no batch`)
  const items = rows.map(({ record }) => record)
  const { data } = await caller.call<Operation>(batch, { body: { items, onExists }, idempotencyKey, signal })
  const results: unknown = isJsonObject(data) ? data['results'] : undefined
  if (!Array.isArray(results) || results.length !== rows.length) {
    const count = Array.isArray(results) ? results.length : 0
    throw new CommandError(
      'invalid_response',
      'failure',
      `The platform returned ${count} results for ${rows.length} rows`,
      {
        why: [`${batch.method} ${batch.path}`],
      },
    )
  }
  return rows.map((row, index) => outcomeOf(dataset, row, results[index]))
}

function outcomeOf(dataset: Dataset, { line }: Row, result: unknown): Outcome {
  const { status, code, detail, errors } = isJsonObject(result) ? result : {}
  if (Number(status) >= 400 || typeof status !== 'number') {
    const faults = Array.isArray(errors) ? errors.filter(isJsonObject) : []
    return rejected(dataset, line, String(code ?? 'failed'), faults, String(detail ?? 'was refused'))
  }
  if (code === 'skipped' || code === 'unchanged') return { line, kind: code }
  return { line, kind: status === 201 ? 'created' : 'updated' }
}

/** Sends each row of a unit by itself: it is looked for, then created or changed. */
export async function sendSingly(sending: Sending, { rows }: Unit, attempt: Attempt): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const row of rows) {
    const key = `${attempt.idempotencyKey}-${row.line}`
    try {
      outcomes.push(await sendRow(sending, row, { ...attempt, idempotencyKey: key }))
    } catch (error) {
      outcomes.push(failureOf(sending.dataset, row, error))
    }
  }
  return outcomes
}

async function sendRow(sending: Sending, { line, record }: Row, attempt: Attempt): Promise<Outcome> {
  const { caller, dataset, names, onExists, signal } = sending
  const { create, update, params } = dataset.operations
  const replaces = update === undefined
  const looked = !replaces && (onExists !== 'fail' || attempt.mayBeDone) && keyOf(dataset, record) !== null
  const shown = looked ? await findShown(caller, dataset, record, signal) : null
  if (shown === null || replaces) {
    const body = await dataset.toBody(record, null, names)
    const { idempotencyKey } = attempt
    await caller.call<Operation>(create, {
      params: replaces ? params(record) : {},
      body,
      ...(create.method === 'POST' && { idempotencyKey }),
      signal,
    })
    return { line, kind: replaces ? 'updated' : 'created' }
  }
  // Whoever created it may have been this import, before it was interrupted.
  if (onExists === 'fail') return { line, kind: 'created' }
  if (onExists === 'skip') return { line, kind: 'skipped' }
  const body = await dataset.toBody(record, shown, names)
  const { data } = await caller.call<Operation>(update, { params: params(shown), body, signal })
  const version = (value: unknown) => (isJsonObject(value) ? value['version'] : undefined)
  const same = version(data) !== undefined && version(data) === version(shown)
  return { line, kind: same ? 'unchanged' : 'updated' }
}

/** What the platform refused for this row alone; throws whatever says nothing about the row. */
function failureOf(dataset: Dataset, { line }: Row, error: unknown): Outcome {
  if (error instanceof RecordError) {
    return { line, kind: 'failed', code: 'invalid_reference', message: `${error.field}: ${error.message}` }
  }
  if (!(error instanceof ApiError) || ![400, 404, 409, 412, 413, 422].includes(error.status)) throw error
  return rejected(dataset, line, error.code, error.faults, error.message)
}

/** A rejection in the words of the file: columns in place of the API's pointers. */
function rejected(
  { columns }: Dataset,
  line: number,
  code: string,
  faults: readonly { readonly pointer?: unknown; readonly detail?: unknown }[],
  detail: string,
): Outcome {
  const told = faults.map(({ pointer, detail }) => {
    const path = fieldPath(String(pointer ?? ''))
    const column = columns.find((each) => path === each.path || path.startsWith(`${each.path}.`))
    return `${column?.name ?? path}: ${detail}`
  })
  return { line, kind: 'failed', code, message: told.length > 0 ? told.join('; ') : detail }
}
