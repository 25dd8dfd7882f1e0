import { setImmediate } from 'node:timers/promises'
import { parseAccept } from 'hono/utils/accept'
import sql, { join, type Sql } from 'sql-template-tag'
import {
  type analytics as Analytics,
  analytics,
  type analyticsFormats,
  LearnerRow,
  type Period,
} from '../contract/analytics.ts'
import { csvRecord } from '../contract/csv.ts'
import type { Query } from '../contract/operation.ts'
import { periodOf } from './analytics-period.ts'
import { summaryOf } from './analytics-summary.ts'
import { type Call, routesOf } from './call.ts'
import type { Cell, Database, Row } from './database/database.ts'
import { type Condition, readCursorParts, where, writeCursor } from './keyset.ts'
import { resolveFilter } from './reference.ts'
import { Streamed } from './reply.ts'

type Format = (typeof analyticsFormats)[number]
type LearnersQuery = Query<typeof Analytics.learners>

const formatOf: ReadonlyMap<string, Format> = new Map([
  ['application/json', 'json'],
  ['text/csv', 'csv'],
  ['application/x-ndjson', 'ndjson'],
])
const rowsAtOnce = 250
const columns = Object.keys(LearnerRow.shape)
const passedColumn = columns.indexOf('passed')
// Everything else is an id, a time, a number or a choice of ours.
const freeText: readonly string[] = ['email', 'firstName', 'lastName', 'externalId', 'courseTitle']
const plain = columns.map((name) => !freeText.includes(name))

const selected = sql`u.id, u.email, u.profile ->> 'firstName', u.profile ->> 'lastName', u.external_id, c.id, c.title,
  c.difficulty, e.status, e.enrolled_at, coalesce(p.status, 'not_started'), coalesce(p.percentage, 0), p.started_at,
  p.last_accessed, p.completed_at, g.percent,
  case when g.percent is null then null
       when g.percent >= json_extract(c.attributes, '$.assessmentCriteria.passingScore') then 'true'
       else 'false' end,
  g.updated_at`

// The cross join keeps the order of the tables: users by e-mail address first, so that nothing has to be sorted
// but the few courses of each.
const joined = sql`users u cross join enrollments e on e.user_id = u.id and e.role = 'learner'
  join courses c on c.id = e.course_id
  left join progress p on p.user_id = u.id and p.course_id = c.id
  left join course_grades g on g.user_id = u.id and g.course_id = c.id`

const ordered = sql`order by u.email, c.title, u.id, c.id`

/** Learner data: one query, three formats (api.md §3, "Analytics"). */
export const analyticsRoutes = routesOf(analytics, {
  learners(call) {
    const { query, database } = call
    const period = periodOf(query.start_date, query.end_date)
    const conditions = conditionsOf(database, query, period)
    const format = query.format ?? preferred(call.accept)
    if (format !== 'json') return streamed(call, format, conditions)
    const first = query.cursor === undefined
    return {
      ...pageOf(database, query, conditions),
      ...(first ? { period } : {}),
      ...(first && query.summary ? { summary: summaryOf(database, joined, where(conditions)) } : {}),
    }
  },
})

function conditionsOf(database: Database, query: LearnersQuery, { start, end }: Period): Condition[] {
  const dated = start !== null || end !== null
  const inPeriod = join(
    [
      sql`p.user_id is not null`,
      ...(start ? [sql`p.last_accessed >= ${start}`] : []),
      ...(end ? [sql`p.last_accessed < ${end}`] : []),
    ],
    ' and ',
  )
  return [
    !query.include_deleted && sql`u.status <> 'deleted'`,
    query.course_id && sql`c.id = ${resolveFilter(database, 'courses', query.course_id, 'course_id')}`,
    query.learner_id && sql`u.id = ${resolveFilter(database, 'users', query.learner_id, 'learner_id')}`,
    query.status && sql`coalesce(p.status, 'not_started') in (${join(query.status)})`,
    query.difficulty && sql`c.difficulty in (${join(query.difficulty)})`,
    dated && (query.include_not_started ? sql`(p.user_id is null or (${inPeriod}))` : sql`(${inPeriod})`),
  ]
}

function pageOf(database: Database, query: LearnersQuery, conditions: readonly Condition[]) {
  const after = query.cursor === undefined ? undefined : afterCursor(query.cursor)
  const rows = [
    ...database.stream(
      sql`select ${selected} from ${joined} ${where([...conditions, after])} ${ordered} limit ${query.limit + 1}`,
    ),
  ].map(toRow)
  const last = rows.length > query.limit ? rows[query.limit - 1] : undefined
  const page = {
    data: rows.slice(0, query.limit),
    nextCursor: last
      ? writeCursor('learners', last.email, last.courseTitle, last.learnerId, last.courseId)
      : null,
  }
  if (!query.include_total) return page
  const count = database.one<Row & { total: number }>(
    sql`select count(*) as total from ${joined} ${where(conditions)}`,
  )
  return { ...page, total: count?.total ?? 0 }
}

function afterCursor(cursor: string): Sql {
  const [email = '', title = '', userId = '', courseId = ''] = readCursorParts(cursor, 'learners', 4)
  return sql`u.email >= ${email} and (u.email, c.title, u.id, c.id) > (${email}, ${title}, ${userId}, ${courseId})`
}

/** All rows as text, a few hundred at a time, on a connection of their own that sees one snapshot. */
function streamed(
  { database, query }: Call<typeof analytics.learners>,
  format: Format,
  conditions: readonly Condition[],
): Streamed {
  const statement = sql`select ${selected} from ${joined} ${where(conditions)} ${ordered}`
  const csv = format === 'csv'
  const encode = csv
    ? (cells: Cell[]) => csvRecord(cells, query.raw, plain)
    : (cells: Cell[]) => `${JSON.stringify(toRow(cells))}\n`
  const head = csv ? (query.bom ? '\ufeff' : '') + csvRecord(columns, true) : ''
  const headers = {
    'content-type': csv ? 'text/csv; charset=utf-8; header=present' : 'application/x-ndjson; charset=utf-8',
    'content-disposition': `attachment; filename="learners${fileSuffix(query)}.${csv ? 'csv' : 'ndjson'}"`,
  }
  return new Streamed(headers, chunks(database, statement, head, encode))
}

async function* chunks(database: Database, statement: Sql, head: string, encode: (cells: Cell[]) => string) {
  const reader = database.reader()
  const rows = reader.stream(statement)
  try {
    let text = head
    let count = 0
    for (const cells of rows) {
      text += encode(cells)
      count += 1
      if (count < rowsAtOnce) continue
      yield text
      text = ''
      count = 0
      // Other requests get their turn between two pieces.
      await setImmediate()
    }
    yield text
  } finally {
    rows.return?.()
    reader.close()
  }
}

function toRow(cells: readonly Cell[]): LearnerRow {
  // The statement selects exactly the columns of a LearnerRow, in its order.
  return Object.fromEntries(
    columns.map((name, index) => {
      const cell = cells[index] ?? null
      return [name, index === passedColumn && cell !== null ? cell === 'true' : cell]
    }),
  ) as LearnerRow
}

/** RFC 9110 §12.5.1: what the client likes best of what there is. */
function preferred(accept: string | null): Format {
  const liked = parseAccept(accept ?? '').find(({ type, q }) => q > 0 && formatOf.has(type))
  return formatOf.get(liked?.type ?? '') ?? 'json'
}

function fileSuffix({ start_date, end_date }: LearnersQuery): string {
  return [start_date, end_date].map((date) => (date ? `_${date.slice(0, 10)}` : '')).join('')
}
