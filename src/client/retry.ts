import { isJsonObject, parseJson } from '../codec/json-text.ts'
import type { HttpResponse } from '../contract/http.ts'
import type { OutgoingRequest } from './call.ts'
import { AmbiguousError, ApiError, ConnectionError, TimeoutError } from './errors.ts'

const firstDelayMs = 250
const maxDelayMs = 8000

/** RFC 9110 §9.2.2. */
const idempotentMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])
const retriedStatuses: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504])
/** Statuses after which the request may have had its effect. */
const ambiguousStatuses: ReadonlySet<number> = new Set([500, 502, 504])
/** Faults that last too long for a retry. */
const lastingFaults: ReadonlySet<string> = new Set(['tls', 'not_tls', 'proxy', 'encryption_unavailable'])
/** Faults after which the request may have had its effect. */
const ambiguousFaults: ReadonlySet<string> = new Set([
  'reset',
  'cut_short',
  'failed',
  'first_byte_timeout',
  'idle_timeout',
])

export interface Wait {
  readonly waitMs: number
  /** Number of the failed attempt, from 1. */
  readonly attempt: number
  readonly attempts: number
  readonly error: Error
}

export interface RetryPolicy {
  readonly attempts: number
  /** A longer `Retry-After` throws the error at once. */
  readonly maxRetryWaitMs: number
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  /** Returns a number from 0 to below 1. */
  readonly random: () => number
  readonly onWait?: ((wait: Wait) => void) | undefined
}

interface Repeated {
  readonly method: string
  readonly url: string
  readonly signal?: AbortSignal
  /** Returns true if the server answers a repeated Idempotency-Key with the first response. */
  readonly honoursKeys: () => Promise<boolean>
}

/**
 * Runs `task` until it succeeds, fails permanently, or has used all attempts. Waits between attempts with full jitter,
 * added to `Retry-After` if there is one. `task` learns whether an earlier attempt may have had its effect. After an
 * ambiguous error a POST is repeated only if the server honours idempotency keys; else throws AmbiguousError.
 */
export async function retry<Answer>(
  policy: RetryPolicy,
  request: Repeated,
  task: (attempt: number, mayHaveHappened: boolean) => Promise<Answer>,
): Promise<Answer> {
  const idempotent = idempotentMethods.has(request.method)
  let mayHaveHappened = false
  for (let attempt = 1; ; attempt++) {
    try {
      return await task(attempt, mayHaveHappened)
    } catch (error) {
      if (!isRetried(error)) throw error
      if (isAmbiguous(error) || (!idempotent && isFromGateway(error))) {
        if (!idempotent && !(await request.honoursKeys())) throw new AmbiguousError(request, error)
        // A 5xx from a server that honours keys means that the request failed.
        mayHaveHappened ||= idempotent || !(error instanceof ApiError)
      }
      const waitMs = waitAfter(error, attempt, policy)
      if (attempt >= policy.attempts || waitMs === null) {
        throw !idempotent && mayHaveHappened ? new AmbiguousError(request, error) : error
      }
      policy.onWait?.({ waitMs, attempt, attempts: policy.attempts, error })
      await policy.sleep(waitMs, request.signal)
    }
  }
}

function isRetried(error: unknown): error is ApiError | ConnectionError | TimeoutError {
  if (error instanceof ConnectionError) return !lastingFaults.has(error.code)
  if (error instanceof ApiError) {
    if (lastingFaults.has(error.code ?? '')) return false
    return retriedStatuses.has(error.status) || error.code === 'idempotency_in_progress'
  }
  return error instanceof TimeoutError
}

/** True for a 503 that no server of this API sent: a gateway may have passed the request on. */
function isFromGateway(error: Error): boolean {
  return error instanceof ApiError && error.status === 503 && !error.coded
}

/** True if the request may have had its effect. */
export function isAmbiguous(error: ApiError | ConnectionError | TimeoutError): boolean {
  return error instanceof ApiError ? ambiguousStatuses.has(error.status) : ambiguousFaults.has(error.code)
}

/** Null if `Retry-After` exceeds the limit. */
function waitAfter(error: Error, attempt: number, { maxRetryWaitMs, random }: RetryPolicy): number | null {
  const jitterMs = Math.floor(random() * Math.min(maxDelayMs, firstDelayMs * 2 ** (attempt - 1)))
  const toldMs = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0
  return toldMs > maxRetryWaitMs ? null : toldMs + jitterMs
}

interface Settling<T> {
  readonly read: (get: OutgoingRequest) => Promise<{ body: unknown; etag: string | null }>
  /** Sends the request once more, with other headers. */
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
export async function resolveRepeated<T>(
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
  if (now.etag === null || !hasValuesOf(now.body, sent)) throw error
  return settling.repeat({ ...request, headers: { ...request.headers, 'if-match': now.etag } })
}

/** True if merging `patch` into `resource` changes nothing (RFC 7396). */
function hasValuesOf(resource: unknown, patch: unknown): boolean {
  if (isJsonObject(patch)) {
    return (
      isJsonObject(resource) &&
      Object.entries(patch).every(([name, value]) => hasValuesOf(resource[name], value))
    )
  }
  if (Array.isArray(patch)) {
    if (!Array.isArray(resource) || resource.length !== patch.length) return false
    return patch.every((item, index) => hasValuesOf(resource[index], item))
  }
  return resource === patch
}
