import type { HttpHeaders } from '../contract/http.ts'
import { hostOf, lineOf, ProtocolError, type Target } from './errors.ts'
import { hintsIn } from './paging-hints.ts'

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
