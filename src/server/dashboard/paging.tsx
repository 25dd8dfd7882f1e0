import type { SignedInRequest } from './signed-in-request.ts'

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
        <span>This is the last page.</span>
      ) : (
        <a rel="next" href={at(nextCursor)}>
          Next page
        </a>
      )}
    </nav>
  )
}
