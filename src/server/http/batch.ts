import * as z from 'zod'
import { isJsonObject } from '../../codec/json-text.ts'
import { isStorableText } from '../../codec/unicode-text.ts'
import { type BatchResult, batchSchema } from '../../contract/batch.ts'
import type { Fault } from '../../contract/errors.ts'
import { storeEntries } from '../changes/audit-entry.ts'
import { storeRowChanges } from '../changes/row-changes.ts'
import type { BatchWork } from '../changes/writing.ts'
import { ProblemError } from '../problem-error.ts'
import type { Call } from './handler.ts'
import { unconditional } from './precondition.ts'
import { parseBody } from './schema-routes.ts'

type Result = BatchResult['results'][number]

/** Maximum faults in all results; each result has the count of its own and places in its detail. */
const maxFaults = 1000

/** `code` is a note if nothing was done, or a warning. */
export interface Outcome {
  readonly id: string
  readonly created: boolean
  readonly code?: 'unchanged' | 'skipped' | 'unweighted' | 'several_maxima'
  readonly detail?: string
}

export type OnExists = 'fail' | 'update' | 'skip'

/** Does not validate the items; throws 422 for faults of the batch itself. */
export function readBatch(rawBody: unknown, onExists: OnExists): { items: unknown[]; onExists: OnExists } {
  const schema = batchSchema(z.unknown(), onExists)
  if (!isJsonObject(rawBody) || !Array.isArray(rawBody['items'])) return parseBody(schema, rawBody)
  const items: unknown[] = rawBody['items']
  // Items are validated one by one, so only their number is checked here.
  return { ...parseBody(schema, { ...rawBody, items: items.map(() => null) }), items }
}

/**
 * Runs each item in a savepoint, so that a fault rolls back only that item. The caller commits the
 * transaction.
 */
export async function runBatch(
  call: Call,
  items: readonly unknown[],
  work: (item: Call, index: number) => Promise<Outcome>,
): Promise<BatchResult> {
  let room = maxFaults
  const results: Result[] = []
  const batch: BatchWork = { rows: new Map(), rowChanges: [], link: undefined, entries: [] }
  // Sequentially: concurrent savepoints would roll each other back.
  for (const [index, rawBody] of items.entries()) {
    const counted = new Map(call.change?.counts)
    const { link, rowChanges, entries } = batch
    const [changed, recorded] = [rowChanges.length, entries.length]
    try {
      const { created, ...outcome } = await call.database.savepoint(() =>
        work({ ...call, batch, rawBody, preconditions: unconditional }, index),
      )
      results.push({ index, status: created ? 201 : 200, ...outcome })
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error
      if (call.change) restore(call.change.counts, counted)
      batch.link = link
      rowChanges.length = changed
      entries.length = recorded
      const result = refusalOf(index, error, room)
      room -= result.errors?.length ?? 0
      results.push(result)
    }
  }
  storeRowChanges(call, batch.rowChanges)
  storeEntries(call.database, batch.entries)
  return { results }
}

function restore<Key, Value>(map: Map<Key, Value>, before: ReadonlyMap<Key, Value>): void {
  map.clear()
  for (const [key, value] of before) map.set(key, value)
}

/** Undefined without one, and for one that the validation will refuse. */
export function externalIdOfItem({ rawBody }: Pick<Call, 'rawBody'>): string | undefined {
  const externalId = isJsonObject(rawBody) ? rawBody['externalId'] : undefined
  return typeof externalId === 'string' && isStorableText(externalId) ? externalId : undefined
}

export async function upsert(
  onExists: OnExists,
  existing: { readonly id: string; readonly version: number } | undefined,
  create: () => Promise<{ readonly id: string }>,
  update: (id: string) => Promise<{ readonly version: number }>,
): Promise<Outcome> {
  if (!existing || onExists === 'fail') return { id: (await create()).id, created: true }
  const { id, version } = existing
  if (onExists === 'skip') return { id, created: false, code: 'skipped' }
  const updated = await update(id)
  return updated.version === version ? { id, created: false, code: 'unchanged' } : { id, created: false }
}

function refusalOf(index: number, error: ProblemError, room: number): Result {
  const { status, code, message, errors, members } = error
  const { id } = members
  return {
    index,
    status,
    ...(typeof id === 'string' ? { id } : {}),
    code,
    detail: message,
    ...(errors && room > 0 ? { errors: errors.slice(0, room).map(faultInBody) } : {}),
  }
}

function faultInBody({ pointer = '#', code, detail }: Fault) {
  return { pointer, code, detail }
}
