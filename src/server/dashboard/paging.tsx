import type { SignedInRequest } from './call-api.ts'
import { formatCount } from './values.tsx'

export const pageSize = 25

export type PageQuery = {
  readonly limit: string
  readonly cursor: string | undefined
}

export function pageQueryOf({ query }: SignedInRequest): PageQuery {
  return { limit: String(pageSize), cursor: query.get('cursor') ?? undefined }
}

/** Earlier pages that a URL remembers, to lead back to them. */
const maxTrail = 8
/** Parameters of one page, or of the form that led there. */
const ofOnePage = ['cursor', 'trail', 'done', 'rest'] as const

export function withoutPageOf(query: URLSearchParams): URLSearchParams {
  const others = new URLSearchParams(query)
  for (const name of ofOnePage) others.delete(name)
  return others
}

export function pathWith(path: string, query: URLSearchParams): string {
  return query.size === 0 ? path : `${path}?${query}`
}

/**
 * URL of this list with other parameters, on its first page unless they have a cursor; those without a value are left out.
 *
 * @param anchor id of the element to scroll to
 */
export function hereWith(
  { base, request, query }: SignedInRequest,
  others: Readonly<Record<string, string | null | undefined>>,
  anchor?: string,
): string {
  const search = withoutPageOf(query)
  for (const [name, value] of Object.entries(others)) {
    if (value) search.set(name, value)
    else search.delete(name)
  }
  return pathWith(base + request.path, search) + (anchor === undefined ? '' : `#${anchor}`)
}

/**
 * Links to the pages around this one. A cursor leads forward only, so the URL remembers the cursors of the last pages
 * and nothing is counted. Null if there is a single page.
 */
export function nextPage(signedIn: SignedInRequest, nextCursor: string | null, anchor?: string) {
  const { query } = signedIn
  const cursor = query.get('cursor')
  if (nextCursor === null && cursor === null) return null
  const trail = trailOf(query)
  const previous = trail.at(-1)
  const at = (there: string | null, before: readonly string[] = []) =>
    hereWith(signedIn, { cursor: there, trail: before.join('.') }, anchor)
  return (
    <nav class="pages" aria-label="Pages">
      {cursor === null ? null : (
        <a rel={trail.length === 0 ? 'prev' : undefined} href={at(null)}>
          First page
        </a>
      )}
      {previous ? (
        <a rel="prev" href={at(previous, trail.slice(0, -1))}>
          Previous page
        </a>
      ) : null}
      {nextCursor === null ? (
        <span>Last page</span>
      ) : (
        <a rel="next" href={at(nextCursor, cursor === null ? [] : shortened([...trail, cursor]))}>
          Next page
        </a>
      )}
    </nav>
  )
}

/** Returns the cursors of the pages between the first one and this one; an empty one stands for pages that are forgotten. */
function trailOf(query: URLSearchParams): string[] {
  const trail = query.get('trail') ?? ''
  // Cursors are base64url, which has no dot.
  return trail === '' ? [] : trail.split('.').slice(-maxTrail - 1)
}

function shortened(trail: readonly string[]): readonly string[] {
  return trail.length > maxTrail ? ['', ...trail.slice(1 - maxTrail)] : trail
}

/** Items are shown so many at a time; `at` is from 1. */
export interface ItemPage {
  readonly at: number
  readonly size: number
  readonly total: number
}

/** The one that a URL or form names, or the nearest. */
export function itemPageOf(given: string | null, size: number, total: number): ItemPage {
  const last = Math.max(1, Math.ceil(total / size))
  return { at: Math.min(Math.max(1, Math.trunc(Number(given)) || 1), last), size, total }
}

/** Links to the other items; null if there are few. They stay on this page of the list. */
export function itemPages(signedIn: SignedInRequest, { at, size, total }: ItemPage, anchor: string) {
  if (total <= size) return null
  const { query } = signedIn
  const here = { cursor: query.get('cursor'), trail: query.get('trail') }
  const href = (page: number) =>
    hereWith(signedIn, { ...here, items: page === 1 ? undefined : String(page) }, anchor)
  return (
    <nav class="pages items" aria-label="Items">
      <span>{`Items ${formatCount((at - 1) * size + 1)}–${formatCount(Math.min(at * size, total))} of ${formatCount(total)}`}</span>
      {at > 1 ? <a href={href(at - 1)}>Previous items</a> : null}
      {at * size < total ? <a href={href(at + 1)}>Next items</a> : null}
    </nav>
  )
}
