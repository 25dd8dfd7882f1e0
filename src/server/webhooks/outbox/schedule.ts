const second = 1000
const minute = 60 * second
const hour = 60 * minute

/** How long after each failed attempt the next one is made; after the last one the message is given up. */
export const retryDelaysMs: readonly number[] = [
  ...[5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour],
]

/** After so many failed attempts, some 35 minutes, later messages about the same subject no longer wait for this one. */
export const heldAttempts = 4

/** So far a delay may be off either way: what failed together is not to come again together. */
const jitter = 0.1

const shortestPauseMs = second
const usualPauseMs = minute
const longestPauseMs = hour

/** How long to wait after this many failed attempts, at least one; undefined where the message is given up. */
export function retryDelayMs(failed: number, random: () => number): number | undefined {
  const delay = retryDelaysMs[failed - 1]
  return delay === undefined ? undefined : Math.round(delay * (1 - jitter + 2 * jitter * random()))
}

/**
 * How long nothing is sent to a receiver that asks for a pause, by its Retry-After (RFC 9110 §10.2.3), within bounds: a
 * second to an hour; a minute where it names no time.
 */
export function pauseMs(retryAfter: string | undefined, now: Date): number {
  const text = retryAfter?.trim() ?? ''
  const asked = /^\d{1,9}$/.test(text) ? Number(text) * second : Date.parse(text) - now.getTime()
  if (Number.isNaN(asked)) return usualPauseMs
  return Math.min(longestPauseMs, Math.max(shortestPauseMs, asked))
}
