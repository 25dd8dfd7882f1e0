/** What is logged of a request: never a query, a header or a body, so that no secret can be in it. */
export interface LogEntry {
  readonly time: string
  readonly requestId: string
  readonly method: string
  readonly path: string
  readonly status: number
  readonly durationMs: number
  readonly userId?: string | undefined
  /** The id of the credential, or `local`. */
  readonly credential?: string | undefined
  readonly code?: string | undefined
  /** What was behind an internal error. */
  readonly cause?: unknown
}

/** A log entry as one line of JSON, LF included. */
export function logLine(entry: LogEntry): string {
  const { time, requestId, method, path, status, durationMs, userId, credential, code, cause } = entry
  const level = status >= 500 ? 'error' : status >= 400 ? 'warn' : 'info'
  // A fault of the caller's may have a piece of the body in it.
  const error = status >= 500 && cause instanceof Error ? (cause.stack ?? cause.message) : undefined
  const rounded = Math.round(durationMs * 100) / 100
  const who = {
    level,
    time,
    requestId,
    method,
    path,
    userId,
    credential,
    code,
    status,
    durationMs: rounded,
    error,
  }
  return `${JSON.stringify(who)}\n`
}
