import sql, { join, type Sql } from 'sql-template-tag'
import type { Attention } from '../../contract/constants.ts'
import type { LearnerRow } from '../../contract/learner-row.ts'
import type { ProgressStep } from '../../contract/progress.ts'
import type { Database, Dialect, Row } from '../database/database.ts'
import {
  type Condition,
  invalidCursor,
  isPresent,
  type Order,
  type Page,
  page,
  readCursor,
  walkOf,
  where,
} from '../database/page.ts'
import { matchesText } from '../database/search.ts'
import { attentionConditions } from './figures.ts'
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

/** Includes email, courseTitle, learnerId and courseId. */
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

/** Undefined if they are too many to read course by course, or none is named. */
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

/** Reads user by user, by their addresses. */
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

export const learnerSorts = ['name', 'status', 'completion', 'last_accessed', 'grade'] as const

export interface LearnerFilter {
  readonly courseId: string
  readonly status?: ProgressStep['status'] | undefined
  readonly attention?: Attention | undefined
  readonly groupId?: string | undefined
  /** Part of a name, username or email address, in any case; or an external id, with or without `ext:`. */
  readonly search?: string | undefined
  /** A name of `learnerSorts`, with `-` in front for descending order. */
  readonly sort: string
}

/** Throws 400 `invalid_cursor`. */
export function pageOfLearners(
  database: Database,
  filter: LearnerFilter,
  now: Date,
  paging: { readonly limit: number; readonly cursor?: string | undefined },
): Promise<Page<LearnerRow>> {
  const { tables, on } = byCourse
  return page(
    database,
    {
      columns: selected,
      from: sql`${tables} ${learning}`,
      by: [on, ...conditionsOf(filter, now), sql`e.course_id = ${filter.courseId}`],
    },
    orderOf(database.dialect, filter),
    paging,
    toLearnerRow,
  )
}

export function everyLearner(dialect: Dialect, filter: LearnerFilter, now: Date): Sql {
  const rows = rowsOf(byCourse, [...conditionsOf(filter, now), sql`e.course_id = ${filter.courseId}`])
  return sql`select ${selected} from ${rows} ${walkOf(orderOf(dialect, filter), undefined, []).ordered}`
}

/** The email address if there is no name. */
const shownName = sql`coalesce(
  nullif(trim(coalesce(u.profile ->> 'firstName', '') || ' ' || coalesce(u.profile ->> 'lastName', '')), ''), u.email)`

const statusRank = sql`case p.status when 'completed' then 2 when 'in_progress' then 1 else 0 end`
const percentage = sql`coalesce(p.percentage, 0)`

function orderOf(dialect: Dialect, { sort }: LearnerFilter): Order {
  const name = dialect.folded(shownName)
  // Missing values sort last in either direction.
  const [present, missing] = sort.startsWith('-') ? [sql`1`, sql`0`] : [sql`0`, sql`1`]
  const orLast = (value: Sql, none: Sql) => [
    sql`case when ${value} is null then ${missing} else ${present} end`,
    sql`coalesce(${value}, ${none})`,
  ]
  return {
    sort,
    expressions: {
      name: [name],
      status: [statusRank, percentage],
      completion: [percentage],
      last_accessed: orLast(sql`p.last_accessed`, sql`''`),
      grade: orLast(sql`g.percent`, sql`0`),
    },
    ties: [name, sql`u.email`],
    id: sql`u.id`,
  }
}

function conditionsOf(filter: LearnerFilter, now: Date): Condition[] {
  const { courseId, groupId, status, attention, search } = filter
  return [
    sql`c.id = ${courseId}`,
    sql`u.status <> 'deleted'`,
    sql`e.status <> 'deleted'`,
    status && sql`coalesce(p.status, 'not_started') = ${status}`,
    attention && attentionConditions(now)[attention],
    search !== undefined && matchesSearch(search),
    groupId !== undefined &&
      sql`exists (select 1 from group_members m where m.group_id = ${groupId} and m.user_id = u.id)`,
  ]
}

function matchesSearch(search: string): Sql {
  const isExternalId = sql`u.external_id = ${search.trim().replace(/^ext:/, '')}`
  const test = matchesText(sql`u.search_key`, search)
  return test ? sql`(${test} or ${isExternalId})` : isExternalId
}
