import type { Caller } from '../../client/caller.ts'
import { ApiError, isAboutRecord, ProtocolError } from '../../client/errors.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-object.ts'
import type { Call } from '../../contract/calls.ts'
import type { Operation } from '../../contract/operation.ts'
import { RecordError } from '../dataset/dataset.ts'
import { fieldPath } from '../operation/field-path.ts'
import type { Action } from './plan.ts'

/** An action that was refused, or that the platform did not show to be done. */
export interface Failure {
  readonly action: Action
  readonly code: string
  readonly message: string
}

/** Statuses that say something about one record; any other fault ends the work. */
const ofRecord = [400, 404, 409, 412, 413, 422]

/** Why the work on one record was refused; throws whatever says nothing about the record. */
export function failureOf(action: Action, error: unknown): Failure {
  if (error instanceof RecordError) {
    return { action, code: 'invalid_reference', message: `${error.field} ${error.message}` }
  }
  if (error instanceof ProtocolError && isAboutRecord(error)) {
    const rest = error.code === 'nothing_done' ? '' : '; it may have been written'
    return { action, code: error.code, message: error.message + rest }
  }
  if (!(error instanceof ApiError) || !ofRecord.includes(error.status)) throw error
  return { action, code: error.code, message: messageOf(error.faults, error.detail) }
}

function messageOf(
  faults: readonly { readonly pointer?: unknown; readonly detail?: unknown }[],
  detail: string,
): string {
  if (faults.length === 0) return detail
  return faults.map(({ pointer, detail }) => `${fieldPath(String(pointer ?? ''))} ${detail}`).join('; ')
}

/** One of many items of one request, for an action. */
export interface Item {
  readonly action: Action
  readonly body: JsonObject
}

/** Sends items in one request; the server judges each by itself. Gives what it refused. */
export async function sendItems(
  caller: Caller,
  batch: Call,
  items: readonly Item[],
  signal: AbortSignal,
): Promise<Failure[]> {
  const body = { items: items.map((item) => item.body), onExists: 'update' }
  const { data } = await caller.call<Operation>(batch, { body, signal })
  const results: unknown = isJsonObject(data) ? data['results'] : undefined
  return items.flatMap(({ action }, index) => {
    const result: unknown = Array.isArray(results) ? results[index] : undefined
    const { status, code, detail, errors } = isJsonObject(result) ? result : {}
    if (typeof status === 'number' && status < 400) return []
    // Written before, by an apply that was interrupted before it had the answer.
    if (code === 'stale_progress') return []
    const faults = Array.isArray(errors) ? errors.filter(isJsonObject) : []
    return [
      { action, code: String(code ?? 'failed'), message: messageOf(faults, String(detail ?? 'No result')) },
    ]
  })
}

const maximumItems = 500
const maximumCharacters = 700_000

/** Items in requests of a size that servers take. */
export function* requestsOf(items: Iterable<Item>): Generator<Item[]> {
  let held: Item[] = []
  let characters = 0
  for (const item of items) {
    const length = JSON.stringify(item.body, (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    ).length
    if (held.length > 0 && (held.length >= maximumItems || characters + length > maximumCharacters)) {
      yield held
      held = []
      characters = 0
    }
    held.push(item)
    characters += length + 1
  }
  if (held.length > 0) yield held
}
