import sql, { join, type Sql } from 'sql-template-tag'
import type { LearnerRow } from '../../contract/learner-row.ts'
import { readCourseFigures, readSteps, wholeAcademy } from '../counters/standings.ts'
import { standings } from '../counters/tally.ts'
import type { Database, Row } from '../database/database.ts'
import { type Condition, invalidCursor, type Page, readCursor, walkOf, where } from '../database/keyset.ts'
import { page, type Select } from '../database/page.ts'
import { isInGroups } from '../groups/group-row.ts'
import { allConditions, hasStatus, maxCourses, type RowFilter, scopeOf } from './row-filter.ts'
import {
  byCourse,
  byEmail,
  byMember,
  byStatus,
  byTime,
  byUser,
  type Rows,
  rowsOf,
  selected,
  toLearnerRow,
} from './rows.ts'

interface PageBounds {
  readonly sorted: number
  /** Courses whose learners are merged, and rows to read in all of them. */
  readonly courses: number
  readonly learners: number
  /** Users whose courses are read. */
  readonly users: number
  /** Rows to count: a total is exact up to here. */
  readonly counted: number
}

/** Takes some tenths of a second in a worker thread. */
const standard: PageBounds = {
  sorted: 50_000,
  courses: maxCourses,
  learners: 50_000,
  users: 5_000,
  counted: 10_000,
}

interface RowsQuery {
  readonly limit: number
  readonly cursor?: string | undefined
}

type PageQuery = RowsQuery & { readonly include_total: boolean }

/** The columns have email, courseTitle, learnerId and courseId among them. */
export interface RowShape<Item> {
  readonly columns: Sql
  readonly show: (row: Row) => Item
}

const learnerShape: RowShape<LearnerRow> = { columns: selected, show: toLearnerRow }

/**
 * Reads one page of a filter's rows at a bounded cost, whatever the size of the academy. The learners of few courses
 * are scanned by the index of their addresses, those of all courses user by user; if a period or a status leaves few
 * enough rows, they are sorted instead. A page may end early, and the next one continues.
 *
 * The choice is made here and not by `page`: counters know how many rows a filter leaves before any is read.
 */
export function readFilteredPage(
  database: Database,
  query: PageQuery,
  filter: RowFilter,
  bounds = standard,
): Promise<Page<LearnerRow>> {
  return readShapedPage(database, query, filter, learnerShape, bounds)
}

/** As `readFilteredPage`, with other columns. */
export async function readShapedPage<Item>(
  database: Database,
  query: PageQuery,
  filter: RowFilter,
  shape: RowShape<Item>,
  bounds = standard,
): Promise<Page<Item>> {
  // Validates the cursor, so it comes first.
  const begin = beginningOf(query.cursor)
  if (filter.learnerIds) {
    const rows = { tables: byUser, conditions: allConditions(filter) }
    const page = await readShapedRows(database, query, rows, shape)
    return query.include_total ? { ...page, ...(await countRows(database, rows, bounds)) } : page
  }
  const { groupIds } = filter
  const rows = groupIds && { tables: byMember(groupIds), conditions: allConditions(filter) }
  const total = rows && query.include_total ? await countRows(database, rows, bounds) : {}
  if (rows && (await areFewMembers(database, groupIds, bounds))) {
    return { ...(await readShapedRows(database, query, rows, shape)), ...total }
  }
  const outlook = await outlookOf(database, query, filter, bounds)
  const page = await pageOf(database, query, begin, { outlook, filter, shape, bounds })
  if (groupIds) return { ...page, ...total }
  return query.include_total ? { ...page, ...(await totalOf(database, outlook, filter, bounds)) } : page
}

async function areFewMembers(
  database: Database,
  groupIds: readonly string[],
  { users }: PageBounds,
): Promise<boolean> {
  const found = await database.one<Row & { rows: number }>(sql`
    select count(*) as rows from (
      select 1 from group_members m where ${isInGroups(groupIds)} limit ${users + 1}) found`)
  return (found?.rows ?? 0) <= users
}

interface Selection<Item> {
  readonly outlook: Outlook
  readonly filter: RowFilter
  readonly shape: RowShape<Item>
  readonly bounds: PageBounds
}

async function pageOf<Item>(
  database: Database,
  query: RowsQuery,
  begin: string,
  { outlook, filter, shape, bounds }: Selection<Item>,
): Promise<Page<Item>> {
  const { candidates, matches, courseIds, walked } = outlook
  if (matches === 0) return { data: [], nextCursor: null }
  // Expected rows between two rows of a page, if they are spread evenly.
  const passed = (query.limit * walked) / matches
  if (candidates.count <= Math.min(bounds.sorted, passed)) {
    return readShapedRows(database, query, candidates, shape)
  }
  const conditions = allConditions(filter)
  if (courseIds) {
    // Counters do not include removed enrolments, which a status may ask for.
    const isLong = walked > bounds.learners || filter.query.enrollment_status !== undefined
    const end = isLong ? await endInCourses(database, begin, courseIds, bounds) : undefined
    return readCoursesPage(database, query, { courseIds, conditions }, shape, end)
  }
  const end = await database.one<{ email: string }>(
    sql`select u.email from users u where u.email >= ${begin} order by u.email limit 1 offset ${bounds.users}`,
  )
  // Bounds at both ends make the planner use this index.
  const within = [sql`u.email >= ${begin}`, sql`u.email <= ${'\u{10ffff}'}`]
  const rows = { tables: byUser, conditions: [...conditions, ...within] }
  return readShapedRows(database, query, rows, shape, end?.email)
}

/**
 * Returns the conditions for the rows of one user: in all courses, in one course, or in those that are published or
 * not.
 */
export function rowsOfUser(
  userId: string,
  { courseId, isPublished }: { readonly courseId?: string; readonly isPublished?: boolean } = {},
): Condition[] {
  const status = isPublished ? sql`c.status = 'published'` : sql`c.status <> 'published'`
  return [
    sql`u.id = ${userId}`,
    sql`e.status <> 'deleted'`,
    courseId !== undefined && sql`c.id = ${courseId}`,
    isPublished !== undefined && status,
  ]
}

/** Name in cursors: by email address, title, learner and course. */
const sort = 'learners'

/** Ordered by email address and title. Throws 400 `invalid_cursor`. */
export function readRowsPage(database: Database, query: RowsQuery, rows: Rows): Promise<Page<LearnerRow>> {
  return readShapedRows(database, query, rows, learnerShape)
}

/**
 * Reads the same page with other columns.
 *
 * @param end email address at which the page ends at the latest, so that the next one continues there; undefined for
 * no limit
 */
function readShapedRows<Item>(
  database: Database,
  { limit, cursor }: RowsQuery,
  { tables: { tables, on }, conditions }: Rows,
  { columns, show }: RowShape<Item>,
  end?: string,
): Promise<Page<Item>> {
  const keys = [sql`u.email`, sql`c.title`, sql`u.id`]
  const select: Select = {
    columns,
    from: tables,
    // No index has the title, so the first term searches it by the address.
    mostly: [cursor !== undefined && sql`u.email >= ${beginningOf(cursor)}`, on, ...conditions],
    end: endAt(end, sql`u.email < ${end}`),
  }
  const order = { sort, expressions: { [sort]: keys }, id: sql`c.id` }
  return page(database, select, order, { limit, cursor }, show)
}

interface CourseRows {
  readonly courseIds: readonly string[]
  readonly conditions: readonly Condition[]
}

/**
 * Reads the same page for a few courses: each has an index of its learners in this order, and the first rows of all
 * are merged. Throws 400 `invalid_cursor`.
 */
function readCoursesPage<Item>(
  database: Database,
  { limit, cursor }: RowsQuery,
  { courseIds, conditions }: CourseRows,
  { columns, show }: RowShape<Item>,
  end?: string,
): Promise<Page<Item>> {
  const keys = [sql`e.user_email`, sql`c.title`, sql`u.id`]
  const { after } = walkOf({ sort, expressions: { [sort]: keys }, id: sql`c.id` }, cursor, [])
  const begin = cursor !== undefined && sql`e.user_email >= ${beginningOf(cursor)}`
  const before = end !== undefined && sql`e.user_email < ${end}`
  const firstOf = (id: string) => sql`
    select ${columns} from ${rowsOf(byEmail, [sql`e.course_id = ${id}`, begin, after, before, ...conditions])}
    order by e.user_email, e.user_id limit ${limit + 1}`
  const first = courseIds.map((id) => sql`select * from (${firstOf(id)}) found`)
  const select: Select = {
    columns: sql`merged.*`,
    from: sql`(${join(first, ' union all ')}) merged`,
    end: endAt(end),
  }
  const order = {
    sort,
    expressions: { [sort]: [sql`merged.email`, sql`merged."courseTitle"`, sql`merged."learnerId"`] },
    id: sql`merged."courseId"`,
  }
  return page(database, select, order, { limit, cursor }, show)
}

function endAt(email: string | undefined, condition?: Sql): Select['end'] {
  if (email === undefined) return undefined
  const place = { cursor_value: email, cursor_value_2: '', cursor_value_3: '', cursor_id: '' }
  return { place, ...(condition && { condition }) }
}

/** Empty for the first page. */
function beginningOf(cursor: string | undefined): string {
  if (cursor === undefined) return ''
  const values = readCursor(cursor, sort, 4)
  if (!values.every((value) => typeof value === 'string')) throw invalidCursor()
  return values[0] ?? ''
}

/** Where a scan of these courses stops; undefined if it reaches their end. */
async function endInCourses(
  database: Database,
  begin: string,
  courseIds: readonly string[],
  { learners }: PageBounds,
): Promise<string | undefined> {
  const each = Math.ceil(learners / courseIds.length)
  const ends: string[] = []
  for (const id of courseIds) {
    const end = await database.one<{ email: string }>(sql`
      select e.user_email as email from enrollments e
      where e.course_id = ${id} and e.role = 'learner' and e.user_email >= ${begin}
      order by e.user_email, e.user_id limit 1 offset ${each}`)
    if (end) ends.push(end.email)
  }
  return ends.sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)))[0]
}

/** A superset of the rows of a filter, found through an index. */
interface Candidates extends Rows {
  /** More than the maximum to sort if unknown. */
  readonly count: number
}

interface Outlook {
  /** The smallest set of rows that an index finds. */
  readonly candidates: Candidates
  /** Upper bound. */
  readonly matches: number
  /** Undefined if they are many. */
  readonly courseIds: readonly string[] | undefined
  /** Rows of these courses, or of the academy. */
  readonly walked: number
}

async function outlookOf(
  database: Database,
  { limit, include_total: withTotal }: PageQuery,
  filter: RowFilter,
  bounds: PageBounds,
): Promise<Outlook> {
  const ofCourses = await outlookOfCourses(database, filter, bounds)
  const { inPeriod, courses, query } = filter
  const isDated = inPeriod !== undefined && !query.include_not_started
  if (!query.enrollment_status && !isDated) return ofCourses
  // Above this number of rows a scan fills a page before they could be sorted. A total may have to count them.
  const maxRows = withTotal ? bounds.sorted : Math.min(bounds.sorted, Math.sqrt(limit * ofCourses.walked))
  const selective = query.enrollment_status
    ? {
        tables: byStatus,
        own: [hasStatus(query.enrollment_status), courses && sql`e.course_id in (${courses})`],
        from: sql`enrollments e`,
        on: undefined,
      }
    : {
        tables: byTime,
        own: [inPeriod, courses && sql`c.id in (${courses})`],
        from: sql`courses c cross join progress p`,
        on: sql`p.course_id = c.id`,
      }
  const counted = await database.one<Row & { rows: number }>(sql`
    select count(*) as rows from (select 1 from ${selective.from} ${where([selective.on, ...selective.own])} limit ${Math.ceil(maxRows) + 1}) found`)
  const count = counted?.rows ?? 0
  // Counters do not distinguish enrolment statuses.
  const matches = query.enrollment_status ? count : Math.min(ofCourses.matches, count)
  if (count >= ofCourses.candidates.count && !query.enrollment_status) return { ...ofCourses, matches }
  const conditions = [...selective.own, ...allConditions(filter)]
  return { ...ofCourses, matches, candidates: { tables: selective.tables, conditions, count } }
}

/** From counters. */
async function outlookOfCourses(database: Database, filter: RowFilter, bounds: PageBounds): Promise<Outlook> {
  const scope = scopeOf(filter)
  const conditions = allConditions(filter)
  if (!scope.courses) {
    const matches = sumOf(await readSteps(database, scope))
    if (matches > bounds.sorted) {
      const walked = sumOf(await readSteps(database, wholeAcademy))
      const candidates = { tables: byUser, conditions, count: Number.POSITIVE_INFINITY }
      return { candidates, matches, courseIds: undefined, walked }
    }
  }
  const figures = await readCourseFigures(database, scope)
  const ids = new Set(figures.map(({ courseId }) => courseId))
  const all = await readCourseFigures(database, { ...scope, statuses: standings })
  const count = sumOf(all.filter(({ courseId }) => ids.has(courseId)))
  const matches = sumOf(figures)
  const wanted = filter.query.enrollment_status ? filter.courseIds : [...ids]
  const courseIds = wanted && wanted.length > 0 && wanted.length <= bounds.courses ? wanted : undefined
  if (!courseIds) {
    const walked = sumOf(await readSteps(database, wholeAcademy))
    return { candidates: { tables: byCourse, conditions, count }, matches, courseIds, walked }
  }
  const only = sql`c.id in (${join(courseIds)})`
  // Never sorted: the scan meets them in order.
  const candidates = { tables: byCourse, conditions: [...conditions, only], count: Number.POSITIVE_INFINITY }
  return { candidates, matches, courseIds, walked: count }
}

/** A lower bound unless exact. */
interface Total {
  readonly total: number
  readonly totalIsExact: boolean
}

/** From counters if possible. */
async function totalOf(
  database: Database,
  { candidates: { tables, conditions, count }, matches, courseIds, walked }: Outlook,
  { inPeriod, query }: RowFilter,
  bounds: PageBounds,
): Promise<Total> {
  if ((!inPeriod && !query.enrollment_status) || matches === 0) return { total: matches, totalIsExact: true }
  if (Math.min(count, courseIds ? walked : count) > bounds.sorted)
    return { total: bounds.counted, totalIsExact: false }
  return countRows(database, { tables, conditions }, bounds)
}

async function countRows(
  database: Database,
  { tables, conditions }: Rows,
  bounds: PageBounds,
): Promise<Total> {
  const found = await database.one<Row & { rows: number }>(sql`
    select count(*) as rows from (select 1 from ${rowsOf(tables, conditions)} limit ${bounds.counted + 1}) found`)
  const rows = found?.rows ?? 0
  return { total: Math.min(rows, bounds.counted), totalIsExact: rows <= bounds.counted }
}

function sumOf(figures: readonly { readonly learners: number }[]): number {
  return figures.reduce((sum, { learners }) => sum + learners, 0)
}
