import sql, { type Sql } from 'sql-template-tag'
import { LearnerRow, type Summary } from '../../contract/analytics.ts'
import type { Cell, Database, Row } from '../database/database.ts'
import { type Condition, type Page, readCursorParts, where, writeCursor } from '../database/keyset.ts'
import { summaryOf } from './analytics-summary.ts'
import { byUser } from './analytics-tables.ts'
import { partsOfRows } from './row-summary.ts'

/** The columns of a row about a learner in a course, in the order of the CSV. */
export const columns = Object.keys(LearnerRow.shape)
const passedColumn = columns.indexOf('passed')

/** Whether a grade passes, as text; null where there is none. */
export const passed = sql`case when g.percent is null then null
  when g.percent >= json_extract(c.attributes, '$.assessmentCriteria.passingScore') then 'true' else 'false' end`

/** The columns of a row, of `u`, `c`, `e`, `p` and `g` in a statement over enrolments. */
export const selected = sql`u.id, u.email, u.profile ->> 'firstName', u.profile ->> 'lastName', u.external_id, c.id, c.title,
  c.difficulty, e.status, e.enrolled_at, coalesce(p.status, 'not_started'), coalesce(p.percentage, 0), p.started_at,
  p.last_accessed, p.completed_at, g.percent,
  ${passed}, g.updated_at`

const ordered = sql`order by u.email, c.title, u.id, c.id`

/** The statement that selects all rows that meet the conditions, in their order. */
export function everyRow(conditions: readonly Condition[]): Sql {
  return sql`select ${selected} from ${byUser} ${where(conditions)} ${ordered}`
}

/** Figures over all rows that meet the conditions, which leave those of some learners. */
export function rowsSummary(database: Database, conditions: readonly Condition[]): Summary {
  return summaryOf(database, partsOfRows(database, byUser, conditions))
}

/** One page of the rows that meet the conditions. Throws 400 `invalid_cursor`. */
export function rowsPage(
  database: Database,
  query: { limit: number; cursor?: string | undefined; include_total: boolean },
  conditions: readonly Condition[],
): Page<LearnerRow> {
  const after = query.cursor === undefined ? undefined : afterCursor(query.cursor)
  const rows = [...database.stream(sql`${everyRow([...conditions, after])} limit ${query.limit + 1}`)].map(
    toRow,
  )
  const last = rows.length > query.limit ? rows[query.limit - 1] : undefined
  const page = {
    data: rows.slice(0, query.limit),
    nextCursor: last
      ? writeCursor('learners', last.email, last.courseTitle, last.learnerId, last.courseId)
      : null,
  }
  if (!query.include_total) return page
  const count = database.one<Row & { total: number }>(
    sql`select count(*) as total from ${byUser} ${where(conditions)}`,
  )
  return { ...page, total: count?.total ?? 0, totalIsExact: true }
}

function afterCursor(cursor: string): Sql {
  const [email = '', title = '', userId = '', courseId = ''] = readCursorParts(cursor, 'learners', 4)
  return sql`u.email >= ${email} and (u.email, c.title, u.id, c.id) > (${email}, ${title}, ${userId}, ${courseId})`
}

/** A row as it is shown, from what `everyRow` selects. */
export function toRow(cells: readonly Cell[]): LearnerRow {
  // The statement selects exactly the columns of a LearnerRow, in its order.
  return Object.fromEntries(
    columns.map((name, index) => {
      const cell = cells[index] ?? null
      return [name, index === passedColumn && cell !== null ? cell === 'true' : cell]
    }),
  ) as LearnerRow
}
