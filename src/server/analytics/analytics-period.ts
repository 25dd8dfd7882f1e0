import type { Period } from '../../contract/analytics.ts'
import { isDay } from '../../contract/field.ts'
import { ProblemError } from '../problem/problem-error.ts'

const dayMs = 24 * 60 * 60 * 1000
// What comes after has another form and does not sort as text.
const lastMs = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * The period between two bounds, each read by its own form: a day is a UTC day and belongs to the period at both
 * ends, an instant starts it inclusively and ends it exclusively. Throws 400 where the start is after the end.
 */
export function periodOf(startDate: string | undefined, endDate: string | undefined): Period {
  const start = startDate === undefined ? null : Date.parse(startDate)
  const end = endDate === undefined ? null : Date.parse(endDate)
  const wholeDay = endDate !== undefined && isDay(endDate)
  const after = end !== null && wholeDay ? Math.min(end + dayMs, lastMs) : end
  if (start !== null && after !== null && (wholeDay ? start >= after : start > after)) {
    const detail = `must not be after end_date: ${startDate} is after ${endDate}`
    throw new ProblemError('invalid_parameter', `The parameter start_date ${detail}.`, {
      errors: [{ parameter: 'start_date', code: 'out_of_order', detail }],
    })
  }
  return { start: timeOf(start), end: timeOf(after) }
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}
