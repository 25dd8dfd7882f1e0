import sql, { raw, type Sql } from 'sql-template-tag'
import type { analytics } from '../../contract/analytics.ts'
import type { Query } from '../../contract/operation.ts'
import type { Activity } from '../../contract/questions.ts'
import type { Asking } from '../access/sight.ts'
import type { Database, Row } from '../database/database.ts'
import { type Condition, where } from '../database/keyset.ts'
import { type NamedPeriod, periodsOf } from './periods.ts'
import { type RowFilter, rowFilterOf } from './row-filter.ts'
import { enrolledIn, type Joined } from './rows.ts'

/** `now` is ISO 8601 in UTC. */
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

/** Counts records of progress, and their learners once in each period. */
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

/**
 * Counts published scores, as they are in the history. Of several entries of a grade with one time of grading only the first
 * counts: the others correct its score, name or weight.
 */
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

/** Found by halving. */
function periodOf(time: Sql, periods: readonly NamedPeriod[]): Sql {
  const indexFrom = (from: number, to: number): Sql => {
    if (to - from === 1) return raw(String(from))
    const middle = Math.floor((from + to) / 2)
    return sql`case when ${time} < ${periods[middle]?.start} then ${indexFrom(from, middle)} else ${indexFrom(middle, to)} end`
  }
  return indexFrom(0, periods.length)
}
