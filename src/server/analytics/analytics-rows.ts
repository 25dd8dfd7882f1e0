import sql, { join, raw, type Sql } from 'sql-template-tag'
import { type LearnerRow, learnerFields, type Summary } from '../../contract/analytics.ts'
import type { Cell, Database } from '../database/database.ts'
import { type Condition, invalidCursor, type Page, readCursorParts, writeCursor } from '../database/keyset.ts'
import { summaryOf } from './analytics-summary.ts'
import { byEmail, byUser, type Joined, rowsOf } from './analytics-tables.ts'
import { partsOfRows } from './row-summary.ts'

/** The columns of an enrolment row, in the order of the CSV. */
export const columns = Object.keys(learnerFields)
const passedColumn = columns.indexOf('passed')

/** Whether a grade passes, as text; null without a grade. */
export const passed = sql`case when g.percent is null then null
  when g.percent >= cast(c.attributes -> 'assessmentCriteria' ->> 'passingScore' as double precision) then 'true' else 'false' end`

/** Selects the columns of a row from `u`, `c`, `e`, `p` and `g` in a query over enrolments. */
export const selected = sql`u.id, u.email, u.profile ->> 'firstName', u.profile ->> 'lastName', u.external_id, c.id, c.title,
  c.difficulty, e.status, e.enrolled_at, coalesce(p.status, 'not_started'), coalesce(p.percentage, 0), p.started_at,
  p.last_accessed, p.completed_at, g.percent,
  ${passed}, g.updated_at, c.external_id`

const ordered = sql`order by u.email, c.title, u.id, c.id`
/** The same order by column numbers. */
const orderedColumns = raw(
  ['email', 'courseTitle', 'learnerId', 'courseId'].map((name) => columns.indexOf(name) + 1).join(', '),
)

/** Tables with their order (default user by user), and conditions. */
export interface Rows {
  readonly tables?: Joined
  readonly conditions: readonly Condition[]
}

/** Returns the statement that selects all rows that meet the conditions, in order. */
export function everyRow({ tables = byUser, conditions }: Rows): Sql {
  return sql`select ${selected} from ${rowsOf(tables, conditions)} ${ordered}`
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

/** Summarises all rows that meet the conditions, which must select the rows of a few learners. */
export async function rowsSummary(database: Database, conditions: readonly Condition[]): Promise<Summary> {
  return summaryOf(database, await partsOfRows(database, byUser, conditions))
}

/** Query parameters of a page of rows. */
export interface RowsQuery {
  readonly limit: number
  readonly cursor?: string | undefined
}

/**
 * Reads one page of rows, ordered by email address and title. Throws 400 `invalid_cursor`.
 *
 * @param end email address at which the page ends at the latest, so that the next one continues there; undefined for
 * no limit
 */
export async function rowsPage(
  database: Database,
  { limit, cursor }: RowsQuery,
  { tables, conditions }: Rows,
  end?: string,
): Promise<Page<LearnerRow>> {
  const after = cursor === undefined ? undefined : afterCursor(cursor, sql`u.email`)
  const within = end === undefined ? undefined : sql`u.email < ${end}`
  const every = everyRow({ ...(tables && { tables }), conditions: [after, within, ...conditions] })
  return pageOf(await database.cells(sql`${every} limit ${limit + 1}`), limit, end)
}

/** The learners of some courses. */
interface CourseRows {
  readonly courseIds: readonly string[]
  readonly conditions: readonly Condition[]
}

/**
 * Reads the same page for a few courses: each has an index of its learners in this order, and the first rows of all
 * are merged. Throws 400 `invalid_cursor`.
 */
export async function coursesPage(
  database: Database,
  { limit, cursor }: RowsQuery,
  { courseIds, conditions }: CourseRows,
  end?: string,
): Promise<Page<LearnerRow>> {
  const after = cursor === undefined ? undefined : afterCursor(cursor, sql`e.user_email`)
  const within = end === undefined ? undefined : sql`e.user_email < ${end}`
  const inOrder = (id: string) => sql`
    select ${selected} from ${rowsOf(byEmail, [sql`e.course_id = ${id}`, after, within, ...conditions])}
    order by e.user_email, e.user_id limit ${limit + 1}`
  const [first = ''] = courseIds
  const each = courseIds.map((id) => sql`select * from (${inOrder(id)}) found`)
  const statement =
    courseIds.length === 1
      ? inOrder(first)
      : sql`${join(each, ' union all ')} order by ${orderedColumns} limit ${limit + 1}`
  return pageOf(await database.cells(statement), limit, end)
}

function pageOf(cells: readonly Cell[][], limit: number, end: string | undefined): Page<LearnerRow> {
  const rows = cells.map(toRow)
  const last = rows.length > limit ? rows[limit - 1] : undefined
  const next = last ? [last.email, last.courseTitle, last.learnerId, last.courseId] : [end ?? '', '', '', '']
  return {
    data: rows.slice(0, limit),
    nextCursor: last || end !== undefined ? writeCursor('learners', ...next) : null,
  }
}

/** Returns the email address at which the page after this cursor begins; empty for the first page. */
export function beginningOf(cursor: string | undefined): string {
  return cursor === undefined ? '' : (textsIn(cursor)[0] ?? '')
}

function afterCursor(cursor: string, column: Sql): Sql {
  const [email = '', title = '', userId = '', courseId = ''] = textsIn(cursor)
  return sql`${column} >= ${email} and (${column}, c.title, u.id, c.id) > (${email}, ${title}, ${userId}, ${courseId})`
}

function textsIn(cursor: string): string[] {
  return readCursorParts(cursor, 'learners', 4).map((part) => {
    if (typeof part !== 'string') throw invalidCursor()
    return part
  })
}

/** Converts a row of `everyRow` to its JSON form. */
export function toRow(cells: readonly Cell[]): LearnerRow {
  // The statement selects exactly the columns of a LearnerRow, in order.
  return Object.fromEntries(
    columns.map((name, index) => {
      const cell = cells[index] ?? null
      return [name, index === passedColumn && cell !== null ? cell === 'true' : cell]
    }),
  ) as LearnerRow
}
