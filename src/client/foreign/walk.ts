import { isDeepStrictEqual } from 'node:util'
import { isJsonObject } from '../../codec/json-object.ts'
import type { HttpHeaders } from '../../contract/http.ts'
import { type RawPage, repeatedError, type WalkedPage, withParameter } from '../answer.ts'
import type { OutgoingRequest } from '../call-input.ts'
import { ApiError, hostOf, lineOf, ProtocolError, type Target } from '../errors.ts'
import { hintsIn, type PagingHints } from './paging.ts'

/** How many pages in a row may be empty: some platforms filter after they have cut, and a rare item may be far. */
const maximumEmptyPages = 1_000
/** How platforms refuse a parameter that they do not know, or a page that is not there. */
const refusals = [400, 404, 422]
const walkParameters = ['page', 'cursor', 'offset', 'skip', 'after']

/**
 * Every page from the first one on. Throws ProtocolError after the last page that can be had where the platform
 * says that there are more; and when the way on leads to another origin, which is never followed, back to a page that
 * was read before, or through empty pages without end.
 */
export async function* readPages(
  asked: OutgoingRequest,
  first: RawPage,
  read: (request: OutgoingRequest) => Promise<RawPage>,
): AsyncGenerator<WalkedPage> {
  const { searchParams } = new URL(asked.url)
  const fromStart = !walkParameters.some((name) => searchParams.has(name))
  const seen = new Set([asked.url])
  let firstPage: number | null = null
  let count = 0
  let empty = 0
  for (let request = asked, page = first; ; ) {
    const { items, around, headers } = page
    const hints = hintsIn(around, headers)
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
    const [item] = page.items
    if (!isJsonObject(item) || !isDeepStrictEqual(page.items, before.items)) return page
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

/** How far a walk through a list has come. */
export interface Walked {
  /** The address of the page that was read last. */
  readonly url: string
  /** How many items that page had. */
  readonly onPage: number
  /** How many items there were until now; null where the walk did not begin at the list's beginning. */
  readonly received: number | null
  /** The number of the first page as the platform counts: 0 or 1. */
  readonly firstPage: number
}

/** Where the next page is. */
export interface NextPage {
  readonly url: string
  /** True where the address was made from numbers: the platform may not know the parameter. */
  readonly counted: boolean
}

/** The page that follows, as far as it can be told; null where none is known. */
export function nextPageOf(hints: PagingHints, walked: Walked): NextPage | null {
  const { cursor, address, more } = hints
  if (cursor && more !== false)
    return { url: withParameter(walked.url, cursor.name, cursor.value), counted: false }
  if (address !== null && URL.canParse(address, walked.url)) {
    return { url: sameScheme(new URL(address, walked.url), new URL(walked.url)).href, counted: false }
  }
  const counted = countedPage(hints, walked)
  return counted && { url: withParameter(walked.url, ...counted), counted: true }
}

/** True where the list has items that did not come. */
export function isIncomplete({ total, more }: PagingHints, { received }: Walked): boolean {
  return more === true || (total !== null && received !== null && total > received)
}

/** The parameter that asks for the next page by its number, or by that of its first item. */
function countedPage(
  hints: PagingHints,
  { url, onPage, received, firstPage }: Walked,
): [string, string] | null {
  const { page, pages, nextPage, offset, total, size, more } = hints
  if (more === false || onPage === 0) return null
  const skipped = offset && Number(offset.value) + onPage
  if (offset && skipped !== null && (page === null || nextPage === skipped)) {
    const left = nextPage === skipped || (total === null ? more === true : total > skipped)
    return left ? [offset.name, String(skipped)] : null
  }
  const name = page?.name ?? 'page'
  if (nextPage !== null) return [name, String(nextPage)]
  if (page === null && pages === null) return null
  const asked = new URL(url).searchParams.get(name)
  const current = Number(page?.value ?? asked ?? firstPage)
  const last = pages ?? (total === null || size === null || size === 0 ? null : Math.ceil(total / size))
  const left =
    last === null
      ? more === true || (total !== null && total > (received ?? total))
      : current - firstPage + 1 < last
  return left ? [name, String(current + 1)] : null
}

/** Behind a proxy that ends TLS, many a platform writes its own addresses with http: the host is what tells. */
function sameScheme(next: URL, from: URL): URL {
  if (next.host !== from.host || next.protocol !== 'http:' || from.protocol !== 'https:') return next
  return new URL(next.pathname + next.search, from)
}

/** That a platform has more items than it sent, and does not say how to get them; `total` is null if it does not count. */
export function incompleteError(target: Target, received: number, total: number | null): ProtocolError {
  const part =
    total !== null && total > received
      ? `${received} of ${total} items`
      : `${received} items of a longer list`
  const message = `${hostOf(target)} returned ${part}, but not how to get the rest (${lineOf(target)})`
  return new ProtocolError(target, 'incomplete', message)
}

/**
 * Throws ProtocolError where the headers of a stream say that it is one page of several, by `X-Total-Count`,
 * `Content-Range` or a `Link` to the next one (RFC 8288): a stream has no other place for that.
 */
export function assertWhole(target: Target, headers: HttpHeaders, received: number): void {
  const { total, address } = hintsIn([], headers)
  if (address === null && (total === null || total <= received)) return
  throw incompleteError(target, received, total)
}
