import type { AnyInput, Page } from '../../client/call.ts'
import type { Caller } from '../../client/caller.ts'
import { ApiError } from '../../client/errors.ts'
import type { Operation } from '../../contract/operation.ts'

/** Sets the order of a list unless the input has one; null keeps the list's own. */
export function withOrder(input: AnyInput, order: string | null): AnyInput {
  return order === null ? input : { ...input, query: { sort: order, ...input.query } }
}

/**
 * Yields all pages of a list in a stable order. If another platform refuses that order, which the user did
 * not choose, uses its default order.
 *
 * @param order default order; null if the list has only one
 */
export async function* orderedPages(
  caller: Caller,
  list: Operation,
  input: AnyInput,
  order: string | null,
): AsyncGenerator<Page<Operation>> {
  const unasked = order !== null && input.query?.['sort'] === undefined
  let begun = false
  try {
    for await (const page of caller.pages(list, withOrder(input, order))) {
      begun = true
      yield page
    }
  } catch (error) {
    const refused =
      error instanceof ApiError && !error.coded && [400, 422].includes(error.status) && unasked && !begun
    if (!refused) throw error
    yield* caller.pages(list, input)
  }
}
