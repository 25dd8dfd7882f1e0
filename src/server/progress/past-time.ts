import { invalid } from '../problem/problem-error.ts'

/** So far other clocks may be ahead. */
const toleratedMs = 5 * 60 * 1000

/** True for a time that is further ahead than clocks differ: it would keep everything that comes later from counting. */
export function isFuture(time: string, now: string): boolean {
  return time > now && Date.parse(time) > Date.parse(now) + toleratedMs
}

/** Throws 422 `in_future` for such a time in a field. */
export function requirePast(field: string, time: string, now: string): void {
  if (!isFuture(time, now)) return
  const detail = `cannot be in the future: ${time} is more than 5 minutes after ${now}`
  throw invalid([{ pointer: `#/${field}`, code: 'in_future', detail }])
}
