import type { HttpResponse } from '../contract/http.ts'

/**
 * Returns the value of `Retry-After`, in seconds or as a date (RFC 9110 §10.2.3), in milliseconds from now; null if
 * absent or invalid. A date is compared with the server's own clock if the reply has a `Date`.
 */
export function retryAfterOf(reply: HttpResponse, nowMs: number): number | null {
  const value = reply.headers['retry-after']?.trim() ?? ''
  if (/^\d{1,15}$/.test(value)) return Number(value) * 1000
  const until = dateOf(value)
  if (until === null) return null
  return Math.max(0, until - (dateOf(reply.headers['date'] ?? '') ?? nowMs))
}

/** Parses an HTTP-date (RFC 9110 §5.6.7): all three forms begin with the name of a day and are in UTC. */
function dateOf(text: string): number | null {
  const utc = text.endsWith('GMT') ? text : `${text} GMT`
  const time = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text) ? Date.parse(utc) : Number.NaN
  return Number.isNaN(time) ? null : time
}
