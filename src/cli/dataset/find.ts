import type { Page } from '../../client/call-input.ts'
import type { Caller } from '../../client/caller.ts'
import { ApiError, isOurs, NotOfferedError } from '../../client/errors.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-object.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Dataset } from './dataset.ts'

/** How many pages of a list are looked through for one record, where a platform does not filter. */
const maximumPages = 100

/** What is done with the pages of a list before they are looked through, such as keeping to its filters. */
export type Keep = <P extends Pick<Page<Operation>, 'data' | 'strict'>>(
  pages: AsyncIterable<P>,
) => AsyncIterable<P>

/**
 * The record that is there under the key of this one, as the API shows it; null where there is none, or the record has
 * no key. Throws a NotOfferedError where the platform shows neither one nor a list.
 */
export async function findShown(
  caller: Caller,
  dataset: Dataset,
  record: JsonObject,
  signal: AbortSignal,
  keep: Keep = (pages) => pages,
): Promise<JsonObject | null> {
  const search = dataset.find(record)
  if (search === null) return null
  const { get, list } = dataset.operations
  if (search.reference && get) {
    try {
      const { data } = await caller.call(get, { params: search.reference, signal })
      if (isJsonObject(data) && search.matches(data)) return data
    } catch (error) {
      if (error instanceof ApiError && error.status === 404 && isOurs(error)) return null
      // A platform elsewhere may not know such references, or not show one record.
      if (!(error instanceof NotOfferedError || error instanceof ApiError)) throw error
      if (error instanceof ApiError && ![400, 404, 422].includes(error.status)) throw error
    }
  }
  let left = maximumPages
  const pages = caller.pages<Operation>(list, {
    params: search.params,
    query: search.query,
    handling: 'strict',
    signal,
  })
  for await (const { data } of keep(pages)) {
    const found = data.find((item) => isJsonObject(item) && search.matches(item))
    if (isJsonObject(found)) return found
    left -= 1
    if (left === 0) break
  }
  return null
}
