import type { HttpResponse } from '../contract/http.ts'

/**
 * How long a reply asks to wait, in milliseconds, from `Retry-After` as seconds or as a date (RFC 9110 §10.2.3); null
 * when it does not say or says it in no known form. A date is taken against the server's own clock where it sends one.
 */
export function retryAfterOf(reply: HttpResponse, nowMs: number): number | null {
  const value = reply.headers['retry-after']?.trim() ?? ''
  if (/^\d{1,15}$/.test(value)) return Number(value) * 1000
  const until = dateOf(value)
  if (until === null) return null
  return Math.max(0, until - (dateOf(reply.headers['date'] ?? '') ?? nowMs))
}

/** An HTTP-date (RFC 9110 §5.6.7): a day's name comes first in each of its three forms, and all are UTC. */
function dateOf(text: string): number | null {
  const utc = text.endsWith('GMT') ? text : `${text} GMT`
  const time = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text) ? Date.parse(utc) : Number.NaN
  return Number.isNaN(time) ? null : time
}
