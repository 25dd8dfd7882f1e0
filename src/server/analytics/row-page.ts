import sql, { join, type Sql } from 'sql-template-tag'
import type { LearnerRow } from '../../contract/learner-row.ts'
import type { Database, Row } from '../database/database.ts'
import {
  type Condition,
  invalidCursor,
  isPresent,
  type Page,
  page,
  readCursor,
  walkOf,
  where,
} from '../database/page.ts'
import { allConditions, type RowFilter } from './row-filter.ts'
import {
  byCourse,
  byEmail,
  byMember,
  byUser,
  learning,
  type Rows,
  rowsOf,
  selected,
  toLearnerRow,
} from './rows.ts'

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

/** Reads one page of a filter's rows, ordered by email address and title. Throws 400 `invalid_cursor`. */
export function readFilteredPage(
  database: Database,
  query: PageQuery,
  filter: RowFilter,
): Promise<Page<LearnerRow>> {
  return readShapedPage(database, query, filter, learnerShape)
}

/** As `readFilteredPage`, with other columns. */
export async function readShapedPage<Item>(
  database: Database,
  query: PageQuery,
  filter: RowFilter,
  shape: RowShape<Item>,
): Promise<Page<Item>> {
  const { learnerIds, groupIds } = filter
  const conditions = allConditions(filter)
  const rows = { tables: groupIds && !learnerIds ? byMember(groupIds) : byUser, conditions }
  const courseIds = learnerIds || groupIds ? undefined : await fewCourses(database, filter)
  const page = courseIds
    ? await readCoursesPage(database, query, { courseIds, conditions }, shape)
    : await readShapedRows(database, query, rows, shape)
  if (!query.include_total) return page
  const inCourses = courseIds && sql`c.id in (${join(courseIds)})`
  const counted = courseIds ? { tables: byCourse, conditions: [...conditions, inCourses] } : rows
  return { ...page, ...(await totalOf(database, filter, counted)) }
}

/** More are not read course by course. */
const maxCourses = 100

/** The courses of a filter; undefined if they are too many to read course by course, or none is named. */
async function fewCourses(
  database: Database,
  { courses, termIds, query: { difficulty } }: RowFilter,
): Promise<readonly string[] | undefined> {
  const conditions = [
    courses && sql`id in (${courses})`,
    termIds && sql`term_id in (${join(termIds)})`,
    difficulty && sql`difficulty in (${join(difficulty)})`,
  ].filter(isPresent)
  if (conditions.length === 0) return undefined
  const found = await database.all<{ id: string }>(
    sql`select id from courses ${where(conditions)} limit ${maxCourses + 1}`,
  )
  return found.length > 0 && found.length <= maxCourses ? found.map(({ id }) => id) : undefined
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

/** Reads the same page with other columns: user by user, by their addresses. */
function readShapedRows<Item>(
  database: Database,
  { limit, cursor }: RowsQuery,
  { tables: { tables, on }, conditions }: Rows,
  { columns, show }: RowShape<Item>,
): Promise<Page<Item>> {
  const order = { sort, expressions: { [sort]: [sql`u.email`, sql`c.title`, sql`u.id`] }, id: sql`c.id` }
  // No index has the title, so the first term searches it by the address.
  const by = [sql`u.email >= ${beginningOf(cursor)}`, on, ...conditions]
  return page(database, { columns, from: sql`${tables} ${learning}`, by }, order, { limit, cursor }, show)
}

interface CourseRows {
  readonly courseIds: readonly string[]
  readonly conditions: readonly Condition[]
}

/** Reads the same page for a few courses: each has an index of its learners in this order; the first of all are merged. */
function readCoursesPage<Item>(
  database: Database,
  { limit, cursor }: RowsQuery,
  { courseIds, conditions }: CourseRows,
  { columns, show }: RowShape<Item>,
): Promise<Page<Item>> {
  const keys = [sql`e.user_email`, sql`c.title`, sql`u.id`]
  const { after } = walkOf({ sort, expressions: { [sort]: keys }, id: sql`c.id` }, cursor, [])
  const begin = sql`e.user_email >= ${beginningOf(cursor)}`
  const firstOf = (id: string) => sql`
    select ${columns} from ${rowsOf(byEmail, [sql`e.course_id = ${id}`, begin, after, ...conditions])}
    order by e.user_email, e.user_id limit ${limit + 1}`
  const first = courseIds.map((id) => sql`select * from (${firstOf(id)}) found`)
  const order = {
    sort,
    expressions: { [sort]: [sql`merged.email`, sql`merged."courseTitle"`, sql`merged."learnerId"`] },
    id: sql`merged."courseId"`,
  }
  const select = { columns: sql`merged.*`, from: sql`(${join(first, ' union all ')}) merged` }
  return page(database, select, order, { limit, cursor }, show)
}

/** Empty for the first page. */
function beginningOf(cursor: string | undefined): string {
  if (cursor === undefined) return ''
  const values = readCursor(cursor, sort, 4)
  if (!values.every((value) => typeof value === 'string')) throw invalidCursor()
  return values[0] ?? ''
}

/** With a period or a status, a total is exact up to here. */
const maxTotal = 10_000

async function totalOf(
  database: Database,
  { inPeriod, query }: RowFilter,
  { tables, conditions }: Rows,
): Promise<{ readonly total: number; readonly totalIsExact: boolean }> {
  const isBounded = inPeriod !== undefined || query.enrollment_status !== undefined
  const bound = isBounded ? sql`limit ${maxTotal + 1}` : sql``
  const found = await database.one<Row & { total: number }>(sql`
    select count(*) as total from (select 1 from ${rowsOf(tables, conditions)} ${bound}) found`)
  const total = found?.total ?? 0
  const isExact = !isBounded || total <= maxTotal
  return { total: isExact ? total : maxTotal, totalIsExact: isExact }
}
