import { setImmediate } from 'node:timers/promises'
import { parseAccept } from 'hono/utils/accept'
import sql, { join, type Sql } from 'sql-template-tag'
import { csvRecord } from '../../codec/csv.ts'
import {
  type analytics as Analytics,
  analytics,
  type analyticsFormats,
  type Period,
} from '../../contract/analytics.ts'
import type { Query } from '../../contract/operation.ts'
import type { Cell, Database } from '../database/database.ts'
import type { Condition } from '../database/keyset.ts'
import { resolveFilters } from '../database/reference.ts'
import { type Call, routesOf } from '../http/handler.ts'
import { Streamed } from '../http/reply.ts'
import { periodOf } from './analytics-period.ts'
import { columns, everyRow, rowsPage, rowsSummary, toRow } from './analytics-rows.ts'

type Format = (typeof analyticsFormats)[number]
type LearnersQuery = Query<typeof Analytics.learners>

const formatOf: ReadonlyMap<string, Format> = new Map([
  ['application/json', 'json'],
  ['text/csv', 'csv'],
  ['application/x-ndjson', 'ndjson'],
])
const rowsAtOnce = 250
// Everything else is an id, a time, a number or a choice of ours.
const freeText: readonly string[] = ['email', 'firstName', 'lastName', 'externalId', 'courseTitle']
const plain = columns.map((name) => !freeText.includes(name))

/** Learner data: one query, three formats (JSON, CSV, NDJSON). */
export const analyticsRoutes = routesOf(analytics, {
  learners(call) {
    const { query, database } = call
    const period = periodOf(query.start_date, query.end_date)
    const conditions = conditionsOf(database, query, period)
    const format = query.format ?? preferred(call.accept)
    if (format !== 'json') return streamed(call, format, conditions, period)
    const first = query.cursor === undefined
    return {
      ...rowsPage(database, query, conditions),
      ...(first ? { period } : {}),
      ...(first && query.summary ? { summary: rowsSummary(database, conditions) } : {}),
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
    query.course_id &&
      sql`e.course_id in (${join(resolveFilters(database, 'courses', query.course_id, 'course_id'))})`,
    query.learner_id &&
      sql`u.id in (${join(resolveFilters(database, 'users', query.learner_id, 'learner_id'))})`,
    query.status && sql`coalesce(p.status, 'not_started') in (${join(query.status)})`,
    query.difficulty && sql`c.difficulty in (${join(query.difficulty)})`,
    dated && (query.include_not_started ? sql`(p.user_id is null or (${inPeriod}))` : sql`(${inPeriod})`),
  ]
}

/** All rows as text, a few hundred at a time, on a connection of their own that sees one snapshot. */
function streamed(
  { database, query }: Call<typeof analytics.learners>,
  format: Format,
  conditions: readonly Condition[],
  period: Period,
): Streamed {
  const statement = everyRow(conditions)
  const csv = format === 'csv'
  const encode = csv
    ? (cells: Cell[]) => csvRecord(cells, query.raw, plain)
    : (cells: Cell[]) => `${JSON.stringify(toRow(cells))}\n`
  const head = csv ? (query.bom ? '\ufeff' : '') + csvRecord(columns, true) : ''
  const headers = {
    'content-type': csv ? 'text/csv; charset=utf-8; header=present' : 'application/x-ndjson; charset=utf-8',
    'content-disposition': `attachment; filename="learners${suffixOf(period)}.${csv ? 'csv' : 'ndjson'}"`,
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

/** RFC 9110 §12.5.1: what the client likes best of what there is. */
function preferred(accept: string | null): Format {
  const liked = parseAccept(accept ?? '').find(({ type, q }) => q > 0 && formatOf.has(type))
  return formatOf.get(liked?.type ?? '') ?? 'json'
}

/** The first and the last day of a period, as part of a file's name. */
function suffixOf({ start, end }: Period): string {
  // The end itself is no longer in the period.
  const last = end === null ? null : new Date(Date.parse(end) - 1).toISOString()
  return [start, last].map((time) => (time === null ? '' : `_${time.slice(0, 10)}`)).join('')
}
