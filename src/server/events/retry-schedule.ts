const second = 1000
const minute = 60 * second
const hour = 60 * minute

/** After each failed attempt; after the last one the message is given up. */
export const retryDelaysMs: readonly number[] = [
  ...[5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour],
]

/** About 35 minutes, until later messages about the same subject no longer wait. */
export const heldAttempts = 4

/** Random deviation of a delay, so that messages that failed together are not retried together. */
const jitter = 0.1

const minPauseMs = second
const defaultPauseMs = minute
const maxPauseMs = hour

/** After this many failed attempts, at least one; undefined to give up. */
export function retryDelayMs(failed: number, random: () => number): number | undefined {
  const delay = retryDelaysMs[failed - 1]
  return delay === undefined ? undefined : Math.round(delay * (1 - jitter + 2 * jitter * random()))
}

/**
 * Returns the pause that a receiver asks for with Retry-After (RFC 9110 §10.2.3), from a second to an hour;
 * by default a minute.
 */
export function pauseMs(retryAfter: string | undefined, now: Date): number {
  const text = retryAfter?.trim() ?? ''
  const requestedMs = /^\d{1,9}$/.test(text) ? Number(text) * second : Date.parse(text) - now.getTime()
  if (Number.isNaN(requestedMs)) return defaultPauseMs
  return Math.min(maxPauseMs, Math.max(minPauseMs, requestedMs))
}
