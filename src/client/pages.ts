import { isDeepStrictEqual } from 'node:util'
import { isJsonObject } from '../codec/json-object.ts'
import type { HttpHeaders } from '../contract/http.ts'
import type { OutgoingRequest } from './call-input.ts'
import { ApiError, hostOf, lineOf, ProtocolError } from './errors.ts'
import { incompleteError } from './incomplete.ts'
import type { FoundList } from './list-body.ts'
import { isIncomplete, type NextPage, nextPageOf } from './next-page.ts'
import { hintsIn } from './paging-hints.ts'

/** One page as it came. */
export interface RawPage {
  readonly list: FoundList
  readonly headers: HttpHeaders
}

/** One page, and whether it is the last one. */
export interface WalkedPage extends RawPage {
  /** True where the list has more, whether it can be had or not. */
  readonly more: boolean
}

/** How many pages in a row may be empty: some platforms filter after they have cut, and a rare item may be far. */
const maximumEmptyPages = 1_000
/** How platforms refuse a parameter that they do not know, or a page that is not there. */
const refusals = [400, 404, 422]
const walkParameters = ['page', 'cursor', 'offset', 'skip', 'after']

/**
 * Every page from the first request on. Throws ProtocolError after the last page that can be had where the platform
 * says that there are more; and when the way on leads to another origin, which is never followed, back to a page that
 * was read before, or through empty pages without end.
 */
export async function* readPages(
  first: OutgoingRequest,
  read: (request: OutgoingRequest) => Promise<RawPage>,
): AsyncGenerator<WalkedPage> {
  const { searchParams } = new URL(first.url)
  const fromStart = !walkParameters.some((name) => searchParams.has(name))
  const seen = new Set([first.url])
  let firstPage: number | null = null
  let count = 0
  let empty = 0
  for (let request = first, page = await read(first); ; ) {
    const { items, around } = page.list
    const hints = hintsIn(around, page.headers)
    firstPage ??= hints.page?.value === '0' ? 0 : 1
    count += items.length
    empty = items.length === 0 ? empty + 1 : 0
    const received = fromStart ? count : null
    const walked = { url: request.url, onPage: items.length, received, firstPage }
    const next = nextPageOf(hints, walked)
    const incomplete = isIncomplete(hints, walked)
    yield { ...page, more: next !== null || incomplete }

    if (next === null) {
      if (incomplete) throw incompleteError(request, count, hints.total)
      return
    }
    assertNew(request, next, seen)
    if (empty >= maximumEmptyPages) {
      const message = `${hostOf(request)} returned ${empty.toLocaleString('en')} empty pages in a row (${lineOf(request)})`
      throw new ProtocolError(request, 'incomplete', message)
    }
    seen.add(next.url)
    request = { ...request, url: next.url }
    page = await readNext(request, page, next, () => incompleteError(request, count, hints.total))
  }

  /** The next page; a platform that ignores what is asked for sends the same one again. */
  async function readNext(
    request: OutgoingRequest,
    before: RawPage,
    { counted }: NextPage,
    incomplete: () => ProtocolError,
  ): Promise<RawPage> {
    const page = await read(request).catch((error: unknown) => {
      const unknown = counted && error instanceof ApiError && refusals.includes(error.status)
      throw unknown ? incomplete() : error
    })
    const [item] = page.list.items
    if (!isJsonObject(item) || !isDeepStrictEqual(page.list.items, before.list.items)) return page
    throw counted ? incomplete() : repeatedError(request)
  }
}

function assertNew(request: OutgoingRequest, { url }: NextPage, seen: ReadonlySet<string>): void {
  if (new URL(url).origin !== new URL(request.url).origin) {
    const message = `${hostOf(request)} returned a next page on another host (${url}), which is not followed`
    throw new ProtocolError(request, 'foreign_link', message)
  }
  if (seen.has(url)) throw repeatedError(request)
}

function repeatedError(request: OutgoingRequest): ProtocolError {
  const message = `${hostOf(request)} returned the same page twice (${lineOf(request)})`
  return new ProtocolError(request, 'cursor_repeated', message)
}
