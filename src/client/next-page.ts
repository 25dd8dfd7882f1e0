import type { PagingHints } from './paging-hints.ts'

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

function withParameter(address: string, name: string, value: string): string {
  const url = new URL(address)
  url.searchParams.set(name, value)
  return url.href
}

/** Behind a proxy that ends TLS, many a platform writes its own addresses with http: the host is what tells. */
function sameScheme(next: URL, from: URL): URL {
  if (next.host !== from.host || next.protocol !== 'http:' || from.protocol !== 'https:') return next
  return new URL(next.pathname + next.search, from)
}
