import type { AnyInput } from '../../client/call-input.ts'
import type { Caller } from '../../client/caller.ts'
import { ApiError, NotOfferedError, ProtocolError } from '../../client/errors.ts'
import type { Operation } from '../../contract/operation.ts'
import { maximumPageSize } from '../../contract/page-size.ts'
import { valueAt } from '../output/columns.ts'

/** A number of items; at least so many where it is not exact. */
export interface Count {
  readonly count: number
  readonly isExact: boolean
}

/**
 * Reads what a question names. What may not be read, or is not offered, is undefined: the question does without it.
 * A thing that is not there is thrown as the ApiError that it is.
 */
export interface Lookup {
  /** The answer of an operation that shows one thing. */
  one(operation: Operation, params: Readonly<Record<string, string>>): Promise<unknown>
  /** How many items a list has. */
  count(operation: Operation, query: Readonly<Record<string, unknown>>): Promise<Count | undefined>
  /** The first page of a list. */
  recent(operation: Operation): Promise<readonly unknown[] | undefined>
  /** The item of a list with this id, among its first thousand. */
  find(operation: Operation, id: string): Promise<unknown>
}

const searchedPages = 10

/** The lookup through a caller; `signal` ends it. */
export function createLookup(caller: Caller, signal: AbortSignal): Lookup {
  const call = (operation: Operation, input: AnyInput) =>
    readable(async () => (await caller.call(operation, { ...input, signal })).data)
  return {
    one: (operation, params) => call(operation, { params }),
    count: async (operation, query) => {
      const page = await call(operation, { query: { ...query, limit: 1, include_total: true } })
      const total = valueAt(page, 'total')
      const items = valueAt(page, 'data')
      // Who ignores the limit may ignore the filter, too, and count something else.
      const obeyed = Array.isArray(items) && items.length <= 1
      if (!obeyed || typeof total !== 'number') return undefined
      return { count: total, isExact: valueAt(page, 'totalIsExact') !== false }
    },
    recent: async (operation) => {
      const items = valueAt(await call(operation, { query: {} }), 'data')
      return Array.isArray(items) ? items : undefined
    },
    find: (operation, id) =>
      readable(async () => {
        let left = searchedPages
        for await (const { data } of caller.pages(operation, { query: { limit: maximumPageSize }, signal })) {
          const found = data.find((item) => String(valueAt(item, operation.identifier ?? 'id')) === id)
          left -= 1
          if (found !== undefined || left === 0) return found
        }
        return undefined
      }),
  }
}

async function readable<Value>(read: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof NotOfferedError || error instanceof ProtocolError) return undefined
    if (error instanceof ApiError && [400, 403, 422].includes(error.status)) return undefined
    throw error
  }
}
