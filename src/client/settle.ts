import { isJsonObject, parseJson } from '../codec/json-text.ts'
import type { HttpResponse } from '../contract/http.ts'
import type { OutgoingRequest } from './call-input.ts'
import type { ApiError } from './errors.ts'

/** Requests that settling may send. */
export interface Settling<T> {
  /** Reads the current state of a resource. */
  readonly read: (get: OutgoingRequest) => Promise<{ body: unknown; etag: string | null }>
  /** Sends the request again, once, with other headers. */
  readonly repeat: (request: OutgoingRequest) => Promise<T>
  readonly accept: (reply: HttpResponse) => Promise<T>
}

const noContent: HttpResponse = { status: 204, headers: {}, body: null }

/**
 * Interprets the refusal of a repeated request whose earlier attempt may have had its effect. A DELETE with a 404 has
 * succeeded. A PUT with a stale `If-Match` has succeeded if the resource already has the values sent: repeating it with
 * the current version then changes nothing and returns the lost response.
 * Throws `error` in any other case.
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

/** True if merging `patch` into `resource` changes nothing (RFC 7396). */
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
