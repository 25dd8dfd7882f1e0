import { isJsonObject } from '../codec/json-object.ts'
import { parseJson } from '../codec/json-text.ts'
import type { HttpResponse } from '../contract/http.ts'
import type { OutgoingRequest } from './call-input.ts'
import type { ApiError } from './errors.ts'

/** What settling may do. */
export interface Settling<T> {
  /** Reads a resource as it is now. */
  readonly read: (get: OutgoingRequest) => Promise<{ body: unknown; etag: string | null }>
  /** Sends the request again, once, in another form. */
  readonly repeat: (request: OutgoingRequest) => Promise<T>
  readonly accept: (reply: HttpResponse) => Promise<T>
}

const noContent: HttpResponse = { status: 204, headers: {}, body: null }

/**
 * What the refusal of a repeated request means when an earlier attempt may have had its effect: a DELETE that finds
 * nothing has succeeded, and so has a PUT whose `If-Match` is stale when the resource already says what was sent; the
 * same PUT on the version that is there now then changes nothing and gives the answer that was lost.
 * Throws `error` when neither is so.
 */
export async function settleRepeated<T>(
  request: OutgoingRequest,
  error: ApiError,
  settling: Settling<T>,
): Promise<T> {
  if (request.method === 'DELETE' && error.status === 404) return settling.accept(noContent)
  if (request.method !== 'PUT' || error.status !== 412 || !('if-match' in request.headers)) throw error

  const { accept = 'application/json' } = request.headers
  const { signal } = request
  const now = await settling.read({
    method: 'GET',
    url: request.url,
    headers: { accept },
    ...(signal && { signal }),
  })
  const sent = parseJson(request.body ?? 'null')
  if (now.etag === null || !says(now.body, sent)) throw error
  return settling.repeat({ ...request, headers: { ...request.headers, 'if-match': now.etag } })
}

/** True when merging `patch` into `resource` would change nothing (RFC 7396), as far as both are known here. */
function says(resource: unknown, patch: unknown): boolean {
  if (isJsonObject(patch)) {
    return (
      isJsonObject(resource) && Object.entries(patch).every(([name, value]) => says(resource[name], value))
    )
  }
  if (Array.isArray(patch)) {
    if (!Array.isArray(resource) || resource.length !== patch.length) return false
    return patch.every((item, index) => says(resource[index], item))
  }
  return resource === patch
}
