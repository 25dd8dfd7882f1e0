import type { AnyInput, Page } from '../../client/call-input.ts'
import type { Caller } from '../../client/caller.ts'
import { ApiError } from '../../client/errors.ts'
import type { Operation } from '../../contract/operation.ts'

/** The same input with this order, unless another one was asked for; null leaves the list its own. */
export function inOrder(input: AnyInput, order: string | null): AnyInput {
  return order === null ? input : { ...input, query: { sort: order, ...input.query } }
}

/**
 * All pages of a list, in an order in which nothing moves while it is read. A platform elsewhere may refuse that order,
 * which nobody asked for: then it is asked once more, for its own.
 *
 * @param order the order unless another one was asked for; null where the list has one alone
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
    for await (const page of caller.pages(list, inOrder(input, order))) {
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
