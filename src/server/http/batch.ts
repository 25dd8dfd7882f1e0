import * as z from 'zod'
import { isJsonObject } from '../../codec/json-object.ts'
import { type BatchResult, batchOf } from '../../contract/batch.ts'
import type { Fault } from '../../contract/errors.ts'
import { ProblemError } from '../problem/problem-error.ts'
import type { Call } from './handler.ts'
import { unconditional } from './precondition.ts'
import { parseBody } from './validation.ts'

type Result = BatchResult['results'][number]

/** Faults in all results together; each result has its own count and places in its detail. */
const maximumErrors = 1000

/** Outcome of one item: its id, whether it is new, and a word where nothing was done, or with a warning. */
export interface Outcome {
  readonly id: string
  readonly created: boolean
  readonly code?: 'unchanged' | 'skipped' | 'unweighted'
  readonly detail?: string
}

/** What happens to an item that is there already. */
export type OnExists = 'fail' | 'update' | 'skip'

/** The items of a batch, each still to be judged on its own; throws 422 for what is wrong around them. */
export function readBatch(rawBody: unknown, onExists: OnExists): { items: unknown[]; onExists: OnExists } {
  const schema = batchOf(z.unknown(), onExists)
  if (!isJsonObject(rawBody) || !Array.isArray(rawBody['items'])) return parseBody(schema, rawBody)
  const items: unknown[] = rawBody['items']
  // What is inside an item is that item's own fault.
  return { ...parseBody(schema, { ...rawBody, items: items.map(() => null) }), items }
}

/**
 * Does each item on a savepoint of its own, so that one fault undoes that item alone; the caller's transaction is
 * the one commit.
 */
export async function runBatch(
  call: Call,
  items: readonly unknown[],
  work: (item: Call, index: number) => Promise<Outcome>,
): Promise<BatchResult> {
  let room = maximumErrors
  const results: Result[] = []
  // One after the other: savepoints side by side would undo one another.
  for (const [index, rawBody] of items.entries()) {
    try {
      const { created, ...told } = await call.database.savepoint(() =>
        work({ ...call, rawBody, preconditions: unconditional }, index),
      )
      results.push({ index, status: created ? 201 : 200, ...told })
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error
      const result = refused(index, error, room)
      room -= result.errors?.length ?? 0
      results.push(result)
    }
  }
  return { results }
}

/** What a new item became, or what to do about one that is there already. */
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

function refused(index: number, error: ProblemError, room: number): Result {
  const { status, code, message, errors, members } = error
  const { id } = members
  return {
    index,
    status,
    ...(typeof id === 'string' ? { id } : {}),
    code,
    detail: message,
    ...(errors && room > 0 ? { errors: errors.slice(0, room).map(inBody) } : {}),
  }
}

function inBody({ pointer = '#', code, detail }: Fault) {
  return { pointer, code, detail }
}
