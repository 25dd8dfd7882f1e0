import { AmbiguousError, ApiError, ConnectionError, TimeoutError } from './errors.ts'

const firstDelayMs = 250
const longestDelayMs = 8000

/** Repeating these has the effect of sending them once (RFC 9110 §9.2.2). */
const idempotentMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])
const retriedStatuses: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504])
/** After these nobody knows whether the request had its effect. */
const ambiguousStatuses: ReadonlySet<number> = new Set([500, 502, 504])
/** These do not heal in seconds. */
const lastingFaults: ReadonlySet<string> = new Set(['tls', 'not_tls', 'proxy', 'encryption_unavailable'])
/** In these the request had left, and something may have acted on it. */
const ambiguousFaults: ReadonlySet<string> = new Set([
  'reset',
  'cut_short',
  'failed',
  'first_byte_timeout',
  'idle_timeout',
  'too_slow',
])

/** The delay before another attempt. */
export interface Wait {
  readonly waitMs: number
  /** The attempt that failed, from 1. */
  readonly attempt: number
  readonly attempts: number
  readonly error: Error
}

/** How often and how patiently a request is repeated. */
export interface RetryPolicy {
  readonly attempts: number
  /** The longest `Retry-After` that is waited for; beyond it the error is thrown at once. */
  readonly maxRetryWaitMs: number
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  /** From 0 to below 1. */
  readonly random: () => number
  readonly onWait?: ((wait: Wait) => void) | undefined
}

/** The request that is repeated, as far as repeating it needs to know. */
export interface Repeated {
  readonly method: string
  readonly url: string
  readonly signal?: AbortSignal
  /** Whether the server answers this request, sent twice, with the first one's result: by its Idempotency-Key. */
  readonly honoursKeys: () => Promise<boolean>
}

/**
 * Runs `task` until it succeeds, fails for good, or the attempts are used up: full jitter between them, or what
 * `Retry-After` asks for and a little more. `task` is told whether an earlier attempt may have had its effect. After
 * an ambiguous fault a POST is repeated only where keys are honoured; AmbiguousError otherwise.
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
      if (isAmbiguous(error)) {
        if (!idempotent && !(await request.honoursKeys())) throw new AmbiguousError(request, error)
        // A server that honours keys says itself, by its 5xx, that the last word was a failure.
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

/** True for a fault that another attempt may mend. */
function isRetried(error: unknown): error is ApiError | ConnectionError | TimeoutError {
  if (error instanceof ConnectionError) return !lastingFaults.has(error.code)
  if (error instanceof ApiError) {
    if (lastingFaults.has(error.code ?? '')) return false
    return retriedStatuses.has(error.status) || error.code === 'idempotency_in_progress'
  }
  return error instanceof TimeoutError
}

/** True where the request had left, and may have had its effect. */
export function isAmbiguous(error: ApiError | ConnectionError | TimeoutError): boolean {
  return error instanceof ApiError ? ambiguousStatuses.has(error.status) : ambiguousFaults.has(error.code)
}

/** Null when the server asks for more patience than there is. */
function waitAfter(error: Error, attempt: number, { maxRetryWaitMs, random }: RetryPolicy): number | null {
  const jitterMs = Math.floor(random() * Math.min(longestDelayMs, firstDelayMs * 2 ** (attempt - 1)))
  const toldMs = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0
  return toldMs > maxRetryWaitMs ? null : toldMs + jitterMs
}
