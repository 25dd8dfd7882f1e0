import { isDeepStrictEqual } from 'node:util'
import { isJsonObject } from '../../codec/json-text.ts'
import type { HttpHeaders } from '../../contract/http.ts'
import type { OutgoingRequest } from '../call.ts'
import { ApiError, hostOf, lineOf, ProtocolError, type Target } from '../errors.ts'
import { type RawPage, repeatedError, type WalkedPage, withParameter } from '../reply.ts'
import { hintsIn, type PagingHints } from './paging.ts'

/** Maximum number of empty pages in a row: some platforms filter after paging, so matching items can be far apart. */
const maxEmptyPages = 1_000
/** Statuses with which platforms refuse an unknown parameter or a page that does not exist. */
const refusals = [400, 404, 422]
const walkParameters = ['page', 'cursor', 'offset', 'skip', 'after']

/**
 * Yields every page from the first one on. Throws ProtocolError after the last available page if the platform reports
 * more items, and if the next page is on another origin, which is never requested, has been read before, or follows too
 * many empty pages.
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
    assertNewPage(request, next, seen)
    if (empty >= maxEmptyPages) {
      const message = `${hostOf(request)} returned ${empty.toLocaleString('en')} empty pages in a row (${lineOf(request)})`
      throw new ProtocolError(request, 'incomplete', message)
    }
    seen.add(next.url)
    request = { ...request, url: next.url }
    page = await readNext(request, page, next, () => incompleteError(request, count, hints.total))
  }

  /** Reads the next page. Throws if it repeats the page before: the platform ignores the parameter. */
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

function assertNewPage(request: OutgoingRequest, { url }: NextPage, seen: ReadonlySet<string>): void {
  if (new URL(url).origin !== new URL(request.url).origin) {
    const message = `${hostOf(request)} returned a next page on another host (${url}), which is not followed`
    throw new ProtocolError(request, 'foreign_link', message)
  }
  if (seen.has(url)) throw repeatedError(request)
}

/** Progress of reading a list. */
interface Walked {
  /** Address of the last page read. */
  readonly url: string
  /** Number of items on that page. */
  readonly onPage: number
  /** Number of items received so far; null if the first request was not for the beginning of the list. */
  readonly received: number | null
  /** Number that the platform gives the first page: 0 or 1. */
  readonly firstPage: number
}

/** Address of the next page. */
interface NextPage {
  readonly url: string
  /** True if the address was calculated from page numbers: the platform may not support the parameter. */
  readonly counted: boolean
}

/** Returns the next page; null if none is known. */
function nextPageOf(hints: PagingHints, walked: Walked): NextPage | null {
  const { cursor, address, more } = hints
  if (cursor && more !== false)
    return { url: withParameter(walked.url, cursor.name, cursor.value), counted: false }
  if (address !== null && URL.canParse(address, walked.url)) {
    return { url: sameScheme(new URL(address, walked.url), new URL(walked.url)).href, counted: false }
  }
  const counted = countedPage(hints, walked)
  return counted && { url: withParameter(walked.url, ...counted), counted: true }
}

/** True if the list has items that were not received. */
function isIncomplete({ total, more }: PagingHints, { received }: Walked): boolean {
  return more === true || (total !== null && received !== null && total > received)
}

/** Returns the parameter of the next page by its number, or by the offset of its first item. */
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

/** Restores https in links that a platform behind a TLS proxy writes as http to the same host. */
function sameScheme(next: URL, from: URL): URL {
  if (next.host !== from.host || next.protocol !== 'http:' || from.protocol !== 'https:') return next
  return new URL(next.pathname + next.search, from)
}

/** Returns the error for a platform that sent part of a list and no next page; `total` is null if unknown. */
function incompleteError(target: Target, received: number, total: number | null): ProtocolError {
  const part =
    total !== null && total > received
      ? `${received} of ${total} items`
      : `${received} items of a longer list`
  const message = `${hostOf(target)} returned ${part}, but not how to get the rest (${lineOf(target)})`
  return new ProtocolError(target, 'incomplete', message)
}

/**
 * Throws ProtocolError if the headers of a stream show that it is one page of several, by `X-Total-Count`,
 * `Content-Range` or a `next` link (RFC 8288): a stream has no other place for that.
 */
export function assertWhole(target: Target, headers: HttpHeaders, received: number): void {
  const { total, address } = hintsIn([], headers)
  if (address === null && (total === null || total <= received)) return
  throw incompleteError(target, received, total)
}
