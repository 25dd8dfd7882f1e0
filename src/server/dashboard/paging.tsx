import type { SignedInRequest } from './call-api.ts'

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
const ofOnePage = ['cursor', 'trail', 'done'] as const

export function withoutPageOf(query: URLSearchParams): URLSearchParams {
  const others = new URLSearchParams(query)
  for (const name of ofOnePage) others.delete(name)
  return others
}

export function pathWith(path: string, query: URLSearchParams): string {
  return query.size === 0 ? path : `${path}?${query}`
}

/**
 * Links to the pages around this one. A cursor leads forward only, so the URL remembers the cursors of the last pages
 * and nothing is counted. Null if there is a single page.
 *
 * @param anchor element to scroll to, such as `#learners`
 */
export function nextPage({ base, request, query }: SignedInRequest, nextCursor: string | null, anchor = '') {
  const cursor = query.get('cursor')
  if (nextCursor === null && cursor === null) return null
  const trail = trailOf(query)
  const previous = trail.at(-1)
  const at = (there: string | null, before: readonly string[] = []) => {
    const others = withoutPageOf(query)
    if (there !== null) others.set('cursor', there)
    if (before.length > 0) others.set('trail', before.join('.'))
    return pathWith(base + request.path, others) + anchor
  }
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
