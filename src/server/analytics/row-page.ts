import sql, { join, type Sql } from 'sql-template-tag'
import type { LearnerRow } from '../../contract/analytics.ts'
import { courseFigures, everybody, type Scope, steps } from '../counters/standings.ts'
import { standings } from '../counters/tally.ts'
import type { Database, Row } from '../database/database.ts'
import { type Page, where } from '../database/keyset.ts'
import { beginningOf, type Rows, type RowsQuery, rowsPage } from './analytics-rows.ts'
import { byCourse, byStatus, byTime, byUser } from './analytics-tables.ts'
import { allConditions, type RowFilter, scopeOf, withStatus } from './row-filter.ts'

/** How much is looked at for one page or one total. */
export interface PageBounds {
  /** Rows that are sorted. */
  readonly sorted: number
  /** Users whose courses are looked at; more where each course is found by an index. */
  readonly users: number
  readonly usersOfCourses: number
  /** Rows that are counted: a total is exact up to here. */
  readonly counted: number
}

/** Some tenths of a second, in a thread of its own. */
const standard: PageBounds = { sorted: 50_000, users: 5_000, usersOfCourses: 50_000, counted: 10_000 }
/** Courses that a statement names one by one. */
const mostCourses = 100

/** Rows that hold all those of a filter, and how many they are; how many of them belong to it, as far as that is known. */
interface Candidates extends Rows {
  readonly tables: Sql
  /** The courses that all of them are in, as a condition, where these are few. */
  readonly courses?: Sql | undefined
  readonly count: number
  readonly matches: number
}

/**
 * One page of the rows of a filter. Its cost is bounded, whatever the academy holds: where courses or a period leave few
 * rows, these are sorted; else users are walked in order, so many at most, and the next page goes on where this one ended.
 */
export async function filteredPage(
  database: Database,
  query: RowsQuery & { readonly include_total: boolean },
  filter: RowFilter,
  bounds = standard,
): Promise<Page<LearnerRow>> {
  if (filter.learnerIds) {
    const rows = { tables: byUser, conditions: allConditions(filter) }
    const page = await rowsPage(database, query, rows)
    return query.include_total ? { ...page, ...(await countRows(database, rows, bounds)) } : page
  }
  const candidates = await candidatesOf(database, filter, bounds)
  const page = await pageOf(database, query, candidates, filter, bounds)
  return query.include_total ? { ...page, ...(await totalOf(database, candidates, filter, bounds)) } : page
}

async function pageOf(
  database: Database,
  query: RowsQuery,
  { tables, conditions, courses, count, matches }: Candidates,
  { courseIds }: RowFilter,
  bounds: PageBounds,
): Promise<Page<LearnerRow>> {
  // Before anything else: it refuses a cursor of another list.
  const beginning = beginningOf(query.cursor)
  if (matches === 0) return { data: [], nextCursor: null }
  const all = sumOf(await steps(database, everybody))
  // As many as stand between rows of the filter, where these are spread evenly.
  const walked = (query.limit * all) / matches
  if (count <= Math.min(bounds.sorted, walked)) {
    return rowsPage(database, query, { tables, conditions: [...conditions, courses] })
  }
  const users = courseIds ? bounds.usersOfCourses : bounds.users
  const begin = sql`u.email >= ${beginning}`
  const end = await database.one<{ email: string }>(
    sql`select u.email from users u where ${begin} order by u.email limit 1 offset ${users}`,
  )
  // Bounds at both ends leave no doubt about which index is walked.
  const last = sql`u.email <= ${'\u{10ffff}'}`
  return rowsPage(database, query, { conditions: [...conditions, begin, last] }, end?.email)
}

/** The fewest rows that an index finds for a filter, as counters and that index tell. */
async function candidatesOf(database: Database, filter: RowFilter, bounds: PageBounds): Promise<Candidates> {
  const conditions = allConditions(filter)
  if (filter.query.enrollment_status) return ofStatus(database, filter, bounds)
  const ofCourses = { conditions, ...(await inCourses(database, scopeOf(filter), bounds)) }
  const { inPeriod, courseIds, query } = filter
  if (!inPeriod || query.include_not_started) return ofCourses
  const dated = [inPeriod, courseIds && sql`c.id in (${join(courseIds)})`]
  const { rows: count } = (await database.one<Row & { rows: number }>(sql`
    select count(*) as rows from (select 1 from courses c cross join progress p on p.course_id = c.id ${where(dated)} limit ${bounds.sorted + 1}) found`)) ?? {
    rows: 0,
  }
  const ofPeriod = {
    tables: byTime,
    conditions: [...conditions, ...dated],
    count,
    matches: Math.min(ofCourses.matches, count),
  }
  return count < ofCourses.count ? ofPeriod : { ...ofCourses, matches: ofPeriod.matches }
}

/** The rows of enrolments with some statuses, which no counter tells apart. */
async function ofStatus(database: Database, filter: RowFilter, bounds: PageBounds): Promise<Candidates> {
  const wanted = withStatus(filter.query.enrollment_status ?? [])
  const found = [wanted, filter.courseIds && sql`e.course_id in (${join(filter.courseIds)})`]
  const counted = await database.one<Row & { rows: number }>(sql`
    select count(*) as rows from (select 1 from enrollments e ${where(found)} limit ${bounds.sorted + 1}) found`)
  const count = counted?.rows ?? 0
  return { tables: byStatus, conditions: [wanted, ...allConditions(filter)], count, matches: count }
}

/** The rows of the courses that a filter may be about. */
async function inCourses(
  database: Database,
  scope: Scope,
  bounds: PageBounds,
): Promise<Pick<Candidates, 'tables' | 'courses' | 'count' | 'matches'>> {
  if (!scope.courses) {
    const matches = sumOf(await steps(database, scope))
    if (matches > bounds.sorted) return { tables: byUser, courses: undefined, count: Infinity, matches }
  }
  const figures = await courseFigures(database, scope)
  const ids = new Set(figures.map(({ courseId }) => courseId))
  const all = await courseFigures(database, { ...scope, statuses: standings })
  return {
    tables: byCourse,
    courses: ids.size > 0 && ids.size <= mostCourses ? sql`c.id in (${join([...ids])})` : undefined,
    count: sumOf(all.filter(({ courseId }) => ids.has(courseId))),
    matches: sumOf(figures),
  }
}

/** A total; where it is not exact, there are at least so many. */
interface Total {
  readonly total: number
  readonly totalIsExact: boolean
}

/** How many rows a filter has: as counters say, or else counted. */
async function totalOf(
  database: Database,
  { tables, conditions, count, matches }: Candidates,
  { inPeriod, query }: RowFilter,
  bounds: PageBounds,
): Promise<Total> {
  if ((!inPeriod && !query.enrollment_status) || matches === 0) return { total: matches, totalIsExact: true }
  if (count > bounds.sorted) return { total: bounds.counted, totalIsExact: false }
  return countRows(database, { tables, conditions }, bounds)
}

async function countRows(
  database: Database,
  { tables, conditions }: Rows & { tables: Sql },
  bounds: PageBounds,
): Promise<Total> {
  const found = await database.one<Row & { rows: number }>(sql`
    select count(*) as rows from (select 1 from ${tables} ${where(conditions)} limit ${bounds.counted + 1}) found`)
  const rows = found?.rows ?? 0
  return { total: Math.min(rows, bounds.counted), totalIsExact: rows <= bounds.counted }
}

function sumOf(figures: readonly { readonly learners: number }[]): number {
  return figures.reduce((sum, { learners }) => sum + learners, 0)
}
