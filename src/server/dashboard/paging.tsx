import type { SignedInRequest } from './call-api.ts'

/** Rows per page of a list. */
export const pageSize = 25

/** Returns the API query of the page that a URL asks for. */
export function pageQueryOf({ query }: SignedInRequest) {
  return { limit: String(pageSize), cursor: query.get('cursor') ?? undefined }
}

/**
 * Links to the next and the first page of a list; cursors know no previous one. Null if there is a single page.
 *
 * @param anchor element to scroll to, such as `#learners`
 */
export function nextPage({ base, request, query }: SignedInRequest, nextCursor: string | null, anchor = '') {
  if (nextCursor === null && !query.has('cursor')) return null
  const here = base + request.path
  const at = (cursor?: string) => {
    const others = new URLSearchParams(query)
    others.delete('cursor')
    others.delete('done')
    if (cursor !== undefined) others.set('cursor', cursor)
    const search = others.toString()
    return (search === '' ? here : `${here}?${search}`) + anchor
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
