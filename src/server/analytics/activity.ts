import sql, { raw, type Sql } from 'sql-template-tag'
import { earliestMs, isDay, latestMs } from '../../codec/time-text.ts'
import { findTimeZone, type TimeZone, utc } from '../../codec/time-zone.ts'
import type { analytics } from '../../contract/analytics.ts'
import { type ActivityUnit, maxActivityPeriods } from '../../contract/constants.ts'
import type { Query } from '../../contract/operation.ts'
import type { Activity } from '../../contract/questions.ts'
import type { Asking } from '../access/sight.ts'
import type { Database, Row } from '../database/database.ts'
import { type Condition, where } from '../database/page.ts'
import { ProblemError } from '../problem-error.ts'
import { type RowFilter, rowFilterOf } from './row-filter.ts'
import { enrolledIn, type Joined } from './rows.ts'

interface AskingForActivity extends Asking {
  readonly query: Query<typeof analytics.activity>
  readonly now: string
}

/**
 * Counts what learners did in each day, week or month. Records are those of enrolments that were not removed, of users who
 * were not deleted, and belong to the period in which they happened, whenever they were recorded. Throws 400 as `periodsOf`
 * and 404 as `rowFilterOf` do.
 */
export async function readActivity(call: AskingForActivity): Promise<Activity> {
  const { database, query, now } = call
  const periods = periodsOf(query, Date.parse(now))
  const filter = await rowFilterOf(call, { start: null, end: null })
  const scope = { database, filter, enrolled: enrolledIn(filter), periods }
  const [progress, completions, grades] = [
    await countProgress(scope),
    await countCompletions(scope),
    await countGrades(scope),
  ]
  return {
    by: query.by,
    timeZone: query.time_zone,
    data: periods.map(({ name, start, end }, index) => ({
      period: name,
      start,
      end,
      activeLearners: progress.get(index)?.learners ?? 0,
      progressUpdates: progress.get(index)?.records ?? 0,
      completions: completions.get(index)?.rows ?? 0,
      grades: grades.get(index)?.rows ?? 0,
    })),
  }
}

interface ActivityScope {
  readonly database: Database
  readonly filter: RowFilter
  readonly enrolled: Joined
  readonly periods: readonly NamedPeriod[]
}

/** By index of the period; a period without any is missing. */
type Counts<Count> = ReadonlyMap<number, Count>

async function countProgress({ database, filter, enrolled, periods }: ActivityScope) {
  const conditions = [
    enrolled.on,
    sql`s.user_id = e.user_id and s.course_id = e.course_id`,
    during(sql`s.last_accessed`, periods),
    ...filter.conditions,
  ]
  const rows = await database.all<Row & Record<'period' | 'learners' | 'records', number>>(sql`
    select period, count(*) as learners, cast(sum(records) as bigint) as records
    from (
      select ${periodOf(sql`s.last_accessed`, periods)} as period, s.user_id, count(*) as records
      from ${enrolled.tables} cross join progress_steps s ${where(conditions)} group by 1, 2) found
    group by period`)
  return byPeriod(rows)
}

/** Counts first completions: a learner who falls back and completes a course again counts once. */
async function countCompletions({ database, filter, enrolled, periods }: ActivityScope) {
  const conditions = [
    enrolled.on,
    sql`p.user_id = e.user_id and p.course_id = e.course_id`,
    during(sql`p.completed_at`, periods),
    ...filter.conditions,
  ]
  return countRows(database, sql`p.completed_at`, periods, {
    from: sql`${enrolled.tables} cross join progress p`,
    conditions,
  })
}

/** Entries of a grade with one time of grading count once: the later ones correct score, name or weight. */
async function countGrades({ database, filter, enrolled, periods }: ActivityScope) {
  const isScore = (step: 's' | 'q') =>
    step === 's' ? sql`s.published = 1 and s.cleared = 0` : sql`q.published = 1 and q.cleared = 0`
  const isRepeated = sql`exists (
    select 1 from grade_steps q
    where q.grade_id = s.grade_id and q.version < s.version and q.graded_at = s.graded_at and ${isScore('q')})`
  const conditions = [
    enrolled.on,
    sql`g.user_id = e.user_id and g.course_id = e.course_id and s.grade_id = g.id and ${isScore('s')}`,
    during(sql`s.graded_at`, periods),
    sql`(s.version = 1 or not ${isRepeated})`,
    ...filter.conditions,
  ]
  return countRows(database, sql`s.graded_at`, periods, {
    from: sql`${enrolled.tables} cross join grades g cross join grade_steps s`,
    conditions,
  })
}

async function countRows(
  database: Database,
  time: Sql,
  periods: readonly NamedPeriod[],
  { from, conditions }: { readonly from: Sql; readonly conditions: readonly Condition[] },
) {
  return byPeriod(
    await database.all<Row & { period: number; rows: number }>(sql`
      select ${periodOf(time, periods)} as period, count(*) as rows from ${from} ${where(conditions)} group by 1`),
  )
}

function byPeriod<Count extends { readonly period: number }>(rows: readonly Count[]): Counts<Count> {
  return new Map(rows.map((row) => [row.period, row]))
}

/** The periods follow each other without gaps. */
function during(time: Sql, periods: readonly NamedPeriod[]): Sql {
  return sql`${time} >= ${periods[0]?.start} and ${time} < ${periods.at(-1)?.end}`
}

function periodOf(time: Sql, periods: readonly NamedPeriod[]): Sql {
  const indexFrom = (from: number, to: number): Sql => {
    if (to - from === 1) return raw(String(from))
    const middle = Math.floor((from + to) / 2)
    return sql`case when ${time} < ${periods[middle]?.start} then ${indexFrom(from, middle)} else ${indexFrom(middle, to)} end`
  }
  return indexFrom(0, periods.length)
}

export interface NamedPeriod {
  /** 2026-03-29, 2026-W13 or 2026-03 */
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
  readonly time_zone: string
}

const weekMs = 7 * 24 * 60 * 60 * 1000

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

/** Returns the time within the years 0 to 9999: only these sort as text. */
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
