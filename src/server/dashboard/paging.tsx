import type { SignedInRequest } from './signed-in-request.ts'
import { counted } from './value-text.tsx'

/** How many rows a page of a list shows. */
export const pageSize = 25

/** The page of a list that an address asks for, as the API takes it. */
export function pageAsked({ query }: SignedInRequest) {
  return { limit: String(pageSize), cursor: query.get('cursor') ?? undefined }
}

/**
 * The links between the pages of a list, or nothing where one page holds it all. What comes after is found by where
 * this page ends, so there is a way on and a way back to the start.
 */
export function nextPage({ base, request, query }: SignedInRequest, nextCursor: string | null) {
  if (nextCursor === null && !query.has('cursor')) return null
  const here = base + request.path
  const at = (cursor?: string) => {
    const others = new URLSearchParams(query)
    others.delete('cursor')
    others.delete('done')
    if (cursor !== undefined) others.set('cursor', cursor)
    const search = others.toString()
    return search === '' ? here : `${here}?${search}`
  }
  return (
    <nav class="pages" aria-label="Pages">
      {query.has('cursor') ? <a href={at()}>First page</a> : null}
      {nextCursor === null ? (
        <span>Last page</span>
      ) : (
        <a rel="next" href={at(nextCursor)}>
          Next page
        </a>
      )}
    </nav>
  )
}

/** What is said of a page without rows: one of a filter that few rows pass may be empty, and others follow it. */
export function noneText(nextCursor: string | null, atTheEnd: string): string {
  return nextCursor === null ? atTheEnd : 'None found yet. The next page continues the search.'
}

/** Which rows of how many a page shows, and the links to the pages around it; past the last page, the way back. */
export function numberedPages(at: number, total: number, hrefOf: (page: number) => string) {
  const last = Math.max(1, Math.ceil(total / pageSize))
  const from = (at - 1) * pageSize + 1
  const to = Math.min(at * pageSize, total)
  return (
    <nav class="pages" aria-label="Pages">
      <span>
        {from > total
          ? `Page not found; ${counted(total)} in total`
          : `${counted(from)}–${counted(to)} of ${counted(total)}`}
      </span>
      {at > 1 ? (
        <>
          {at > 2 ? <a href={hrefOf(1)}>First page</a> : null}
          <a rel="prev" href={hrefOf(Math.min(at - 1, last))}>
            Previous page
          </a>
        </>
      ) : null}
      {at < last ? (
        <>
          <a rel="next" href={hrefOf(at + 1)}>
            Next page
          </a>
          {at + 1 < last ? <a href={hrefOf(last)}>Last page</a> : null}
        </>
      ) : null}
    </nav>
  )
}
