import { invalid } from '../problem-error.ts'

/** Maximum difference of other clocks. */
const maxClockSkewMs = 5 * 60 * 1000

/** True for a time beyond clock skew. Stored, it would make all later records stale. */
export function isFuture(time: string, now: string): boolean {
  return time > now && Date.parse(time) > Date.parse(now) + maxClockSkewMs
}

/** Throws 422 `in_future` if the time of a field is in the future. */
export function requirePast(field: string, time: string, now: string): void {
  if (!isFuture(time, now)) return
  const detail = `cannot be in the future: ${time} is more than 5 minutes after ${now}`
  throw invalid([{ pointer: `#/${field}`, code: 'in_future', detail }])
}
