import type { AnyInput } from '../../client/call.ts'
import type { Caller } from '../../client/caller.ts'
import { ApiError, NotOfferedError, ProtocolError } from '../../client/errors.ts'
import { maxPageSize } from '../../contract/constants.ts'
import type { Operation } from '../../contract/operation.ts'
import { valueAt } from '../../tables/column.ts'

/** A lower bound if not exact. */
export interface Count {
  readonly count: number
  readonly isExact: boolean
}

/** Undefined for reads that are forbidden or not offered, which the question omits. Throws an ApiError if not found. */
export interface Lookup {
  one(operation: Operation, params: Readonly<Record<string, string>>): Promise<unknown>
  count(operation: Operation, query: Readonly<Record<string, unknown>>): Promise<Count | undefined>
  recent(operation: Operation): Promise<readonly unknown[] | undefined>
  find(operation: Operation, id: string): Promise<unknown>
}

export function createLookup(caller: Caller, signal: AbortSignal): Lookup {
  const call = (operation: Operation, input: AnyInput) =>
    readable(async () => (await caller.call(operation, { ...input, signal })).data)
  return {
    one: (operation, params) => call(operation, { params }),
    count: async (operation, query) => {
      const page = await call(operation, { query: { ...query, limit: 1, include_total: true } })
      const total = valueAt(page, 'total')
      const items = valueAt(page, 'data')
      // A platform that ignores the limit may ignore the filter, too, and count other items.
      const isFiltered = Array.isArray(items) && items.length <= 1
      if (!isFiltered || typeof total !== 'number') return undefined
      return { count: total, isExact: valueAt(page, 'totalIsExact') !== false }
    },
    recent: async (operation) => {
      const items = valueAt(await call(operation, { query: {} }), 'data')
      return Array.isArray(items) ? items : undefined
    },
    find: (operation, id) =>
      readable(async () => {
        for await (const { data } of caller.pages(operation, { query: { limit: maxPageSize }, signal })) {
          const found = data.find((item) => String(valueAt(item, operation.identifier ?? 'id')) === id)
          if (found !== undefined) return found
        }
        return undefined
      }),
  }
}

/** Undefined for a read that is forbidden or not offered, or has another of these statuses. */
export async function readable<Value>(
  read: () => Promise<Value>,
  statuses: readonly number[] = [],
): Promise<Value | undefined> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof NotOfferedError || error instanceof ProtocolError) return undefined
    if (error instanceof ApiError && [400, 403, 422, ...statuses].includes(error.status)) return undefined
    throw error
  }
}
