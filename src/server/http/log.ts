/** A logged request, without query, headers and body, which may contain secrets. */
export interface LogEntry {
  readonly time: string
  readonly requestId: string
  readonly method: string
  readonly path: string
  readonly status: number
  readonly durationMs: number
  readonly userId?: string | undefined
  /** Id of the credential, or `local`. */
  readonly credential?: string | undefined
  readonly code?: string | undefined
  /** Cause of an internal error. */
  readonly cause?: unknown
}

/** Formats a log entry as one line of JSON, LF included. */
export function logLine(entry: LogEntry): string {
  const { time, requestId, method, path, status, durationMs, userId, credential, code, cause } = entry
  const level = status >= 500 ? 'error' : status >= 400 ? 'warn' : 'info'
  // The cause of a client's error may quote the body.
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
