import type { Caller } from '../../client/caller.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Context } from '../command/context.ts'

/**
 * Returns the number of items in a list as the platform counts them; null if it does not, or only up to a
 * limit.
 */
export async function expectedRows(
  { io: { signal } }: Pick<Context, 'io'>,
  caller: Caller,
  operation: Operation,
  query: Readonly<Record<string, unknown>>,
): Promise<number | null> {
  try {
    const { data } = await caller.call(operation, {
      query: { ...query, limit: 1, include_total: 'true' },
      signal,
    })
    const { total, totalIsExact } = data as { readonly total?: unknown; readonly totalIsExact?: unknown }
    return typeof total === 'number' && totalIsExact !== false ? total : null
  } catch {
    signal.throwIfAborted()
    return null // The export itself reports the error.
  }
}
