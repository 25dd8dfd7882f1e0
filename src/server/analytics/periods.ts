import { earliestMs, isDay, latestMs } from '../../codec/time-text.ts'
import { findTimeZone, type TimeZone, utc } from '../../codec/time-zone.ts'
import { type ActivityUnit, maxActivityPeriods } from '../../contract/constants.ts'
import { ProblemError } from '../problem-error.ts'

/** A day, week or month, or the part of it that is reported. */
export interface NamedPeriod {
  /** Such as 2026-03-29, 2026-W13 or 2026-03. */
  readonly name: string
  /** ISO 8601 in UTC, inclusive. */
  readonly start: string
  /** ISO 8601 in UTC, exclusive. */
  readonly end: string
}

interface PeriodsQuery {
  readonly by: ActivityUnit
  readonly start_date?: string | undefined
  readonly end_date?: string | undefined
  /** IANA name. */
  readonly time_zone: string
}

const weekMs = 7 * 24 * 60 * 60 * 1000

/** Where no start is given; the one of the end included. */
const usualPeriods: Readonly<Record<ActivityUnit, number>> = { day: 30, week: 12, month: 12 }

/**
 * Returns the days, weeks (from Monday, ISO 8601) or months of a time zone between two bounds, in order. A bound within a
 * period cuts it. Throws 400 if the start is not before the end, and for more than `maxActivityPeriods`.
 */
export function periodsOf(query: PeriodsQuery, nowMs: number): NamedPeriod[] {
  const { by, start_date: startDate, end_date: endDate } = query
  const zone = findTimeZone(query.time_zone) ?? utc
  const around = (instantMs: number) => clockStartOf(zone.clockAt(instantMs), by)
  const endMs =
    endDate === undefined ? zone.instantOf(addUnits(around(nowMs), 1, by)) : boundOf(endDate, 'end', zone)
  const startMs =
    startDate === undefined
      ? zone.instantOf(addUnits(around(endMs - 1), 1 - usualPeriods[by], by))
      : boundOf(startDate, 'start', zone)
  if (startMs >= endMs) throw outOfOrder(query)
  const periods: NamedPeriod[] = []
  let clockMs = around(startMs)
  let fromMs = startMs
  while (fromMs < endMs) {
    const name = nameOf(clockMs, by)
    clockMs = addUnits(clockMs, 1, by)
    const toMs = Math.min(zone.instantOf(clockMs), endMs)
    // A day that the time zone skipped has no period.
    if (toMs <= fromMs) continue
    if (periods.length === maxActivityPeriods) throw tooMany(by)
    periods.push({ name, start: timeOf(fromMs), end: timeOf(toMs) })
    fromMs = toMs
  }
  return periods
}

/** In local time. */
function clockStartOf(clockMs: number, by: ActivityUnit): number {
  const clock = new Date(clockMs)
  clock.setUTCHours(0, 0, 0, 0)
  if (by === 'week') clock.setUTCDate(clock.getUTCDate() - daysSinceMonday(clock))
  if (by === 'month') clock.setUTCDate(1)
  return clock.getTime()
}

/** In local time. */
function addUnits(clockMs: number, count: number, by: ActivityUnit): number {
  const clock = new Date(clockMs)
  if (by === 'month') clock.setUTCMonth(clock.getUTCMonth() + count)
  else clock.setUTCDate(clock.getUTCDate() + count * (by === 'week' ? 7 : 1))
  return clock.getTime()
}

function boundOf(text: string, bound: 'start' | 'end', zone: TimeZone): number {
  if (!isDay(text)) return Date.parse(text)
  const day = new Date(text)
  if (bound === 'end') day.setUTCDate(day.getUTCDate() + 1)
  return zone.instantOf(day.getTime())
}

function daysSinceMonday(clock: Date): number {
  return (clock.getUTCDay() + 6) % 7
}

function nameOf(clockMs: number, by: ActivityUnit): string {
  const clock = new Date(clockMs)
  const day = clock.toISOString().slice(0, 10)
  if (by !== 'week') return by === 'day' ? day : day.slice(0, 7)
  // The year of an ISO week is that of its Thursday (ISO 8601-1:2019, 3.1.1.23).
  clock.setUTCDate(clock.getUTCDate() + 3)
  const year = clock.getUTCFullYear()
  const week = Math.floor((clock.getTime() - Date.UTC(year, 0, 1)) / weekMs) + 1
  return `${String(year).padStart(4, '0')}-W${String(week).padStart(2, '0')}`
}

/** Of the years 0 to 9999: only these sort as text. */
function timeOf(ms: number): string {
  return new Date(Math.min(Math.max(ms, earliestMs), latestMs)).toISOString()
}

function outOfOrder({ start_date: start, end_date: end }: PeriodsQuery): ProblemError {
  const parameter = start === undefined ? 'end_date' : 'start_date'
  const detail = end === undefined ? 'must not be in the future' : `must be before end_date, ${end}`
  return new ProblemError('invalid_parameter', `The parameter ${parameter} ${detail}.`, {
    errors: [{ parameter, code: 'out_of_order', detail }],
  })
}

function tooMany(by: ActivityUnit): ProblemError {
  const detail = `must leave at most ${maxActivityPeriods} periods of a ${by}`
  return new ProblemError('invalid_parameter', `The parameter start_date ${detail}.`, {
    errors: [{ parameter: 'start_date', code: 'too_many', detail }],
  })
}
