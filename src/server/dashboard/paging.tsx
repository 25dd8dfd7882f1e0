import type { SignedInRequest } from './signed-in-request.ts'
import { formatCount } from './value-text.tsx'

/** Rows per page of a list. */
export const pageSize = 25

/** Returns the API query of the page that a URL asks for. */
export function pageQueryOf({ query }: SignedInRequest) {
  return { limit: String(pageSize), cursor: query.get('cursor') ?? undefined }
}

/** Links to the next and the first page of a list; cursors know no previous one. Null if there is a single page. */
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

/** Text for a page without rows. With a filter that few rows match, a page may be empty although others follow. */
export function noneText(nextCursor: string | null, atTheEnd: string): string {
  return nextCursor === null ? atTheEnd : 'None found yet. The next page continues the search.'
}

/** The rows that a numbered page shows, and links to the pages around it. */
export function numberedPages(at: number, total: number, hrefOf: (page: number) => string) {
  const last = Math.max(1, Math.ceil(total / pageSize))
  const from = (at - 1) * pageSize + 1
  const to = Math.min(at * pageSize, total)
  return (
    <nav class="pages" aria-label="Pages">
      <span>
        {from > total
          ? `Page not found; ${formatCount(total)} in total`
          : `${formatCount(from)}–${formatCount(to)} of ${formatCount(total)}`}
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
