import { spanOf } from '../../codec/time-text.ts'
import type { Period } from '../../contract/analytics.ts'
import { ProblemError } from '../problem-error.ts'

/** Returns the period between two bounds, each a day or an instant. Throws 400 if the start is after the end. */
export function periodOf(startDate: string | undefined, endDate: string | undefined): Period {
  const { start, end, ordered } = spanOf(startDate, endDate)
  if (!ordered) {
    const detail = `must not be after end_date: ${startDate} is after ${endDate}`
    throw new ProblemError('invalid_parameter', `The parameter start_date ${detail}.`, {
      errors: [{ parameter: 'start_date', code: 'out_of_order', detail }],
    })
  }
  return { start: timeOf(start), end: timeOf(end) }
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}
