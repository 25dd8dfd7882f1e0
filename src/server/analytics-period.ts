import type { Period } from '../contract/analytics.ts'
import { isDay } from '../contract/field.ts'
import { ProblemError } from './problem-error.ts'

const dayMs = 24 * 60 * 60 * 1000

/**
 * The period between two bounds, each read by its own form: a day is a UTC day and belongs to the period at both
 * ends, an instant starts it inclusively and ends it exclusively. Throws 400 where the start is after the end.
 */
export function periodOf(startDate: string | undefined, endDate: string | undefined): Period {
  const start = startDate === undefined ? null : Date.parse(startDate)
  const end = endDate === undefined ? null : Date.parse(endDate)
  if (start !== null && end !== null && start > end) {
    const detail = `must not be after end_date: ${startDate} is after ${endDate}`
    throw new ProblemError('invalid_parameter', `The parameter start_date ${detail}.`, {
      errors: [{ parameter: 'start_date', code: 'out_of_order', detail }],
    })
  }
  const after = end !== null && isDay(endDate ?? '') ? end + dayMs : end
  return { start: timeOf(start), end: timeOf(after) }
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}
