import { isDay } from '../../codec/time-text.ts'
import { platformName } from '../../config/target.ts'
import type { Context } from '../command/context.ts'
import type { LearnersQuery } from './learner-rows.ts'

const dayMs = 24 * 60 * 60 * 1000
/** Earlier than any activity of a learner. */
const firstDay = '1970-01-01'

/**
 * Requests learners from a platform. If its response says that it takes plain dates, or requires both,
 * requests them again for the days around the period; the caller filters out the rest of those days.
 *
 * @param ask sends the query
 */
export async function withPlainDates<Result>(
  { io, output, session }: Pick<Context, 'io' | 'output' | 'session'>,
  query: LearnersQuery,
  ask: (query: LearnersQuery) => Promise<Result>,
): Promise<Result> {
  try {
    return await ask(query)
  } catch (error) {
    const target = session.target()
    const { ApiError } = await import('../../client/errors.ts')
    if (target.kind === 'local' || !(error instanceof ApiError) || error.coded) throw error
    const dates = daysAround(query, io.now())
    const widened = (['start_date', 'end_date'] as const).filter((name) => query[name] !== dates[name])
    const text = `${error.message} ${JSON.stringify(error.problem)}`
    if (![400, 422].includes(error.status) || widened.length === 0 || !isAboutDates(text)) throw error
    await output.note(
      `${platformName(target)} requires a start and an end date; retrying with ${dates.start_date} to ${dates.end_date}`,
    )
    return ask({ ...query, ...dates })
  }
}

function isAboutDates(text: string): boolean {
  return /(?:\b|_)(?:start|end|from|to)?[_ ]?dates?(?:\b|_)|(?:start|end)Date/i.test(text)
}

/** Returns the days around a period; without an end, until tomorrow in any time zone. */
function daysAround({ start_date, end_date }: LearnersQuery, nowMs: number) {
  const end = end_date !== undefined && isDay(end_date) ? end_date : null
  // Some platforms exclude the last day.
  const after = dayOf((end_date === undefined ? nowMs : Date.parse(end_date)) + dayMs)
  return {
    start_date: start_date === undefined ? firstDay : dayOf(Date.parse(start_date)),
    end_date: end ?? after,
  }
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}
