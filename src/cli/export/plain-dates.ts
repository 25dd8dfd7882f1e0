import { isDay } from '../../codec/time-text.ts'
import { platformName } from '../../config/target.ts'
import type { Context } from '../command/context.ts'
import type { LearnersQuery } from './learner-rows.ts'

const dayMs = 24 * 60 * 60 * 1000
/** Before anything that a learner did. */
const firstDay = '1970-01-01'

/**
 * Does what asks a platform for learners. Where it answers that it takes plain dates, or needs both, it is asked once
 * more, for the days that hold the period: what a day has beside that is for the caller to leave out.
 *
 * @param ask is handed the query
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

/** The days from the first to the last one of a period; the end of an open one is tomorrow, wherever today is. */
function daysAround({ start_date, end_date }: LearnersQuery, nowMs: number) {
  const end = end_date !== undefined && isDay(end_date) ? end_date : null
  // Some platforms do not count the last day.
  const after = dayOf((end_date === undefined ? nowMs : Date.parse(end_date)) + dayMs)
  return {
    start_date: start_date === undefined ? firstDay : dayOf(Date.parse(start_date)),
    end_date: end ?? after,
  }
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}
