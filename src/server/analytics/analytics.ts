import sql, { join } from 'sql-template-tag'
import {
  type analytics as Analytics,
  analytics,
  type analyticsFormats,
  type Period,
} from '../../contract/analytics.ts'
import type { Query } from '../../contract/operation.ts'
import type { Database } from '../database/database.ts'
import type { Condition } from '../database/keyset.ts'
import { resolveFilters } from '../database/reference.ts'
import { type Call, routesOf } from '../http/handler.ts'
import { preferred } from '../http/negotiation.ts'
import type { Streamed } from '../http/reply.ts'
import { periodOf } from './analytics-period.ts'
import { everyRow, rowsPage, rowsSummary } from './analytics-rows.ts'
import { type LearnerFile, learnerFile } from './learner-file.ts'

type Format = (typeof analyticsFormats)[number]
type LearnersQuery = Query<typeof Analytics.learners>

const formatOf: ReadonlyMap<string, Format> = new Map([
  ['application/json', 'json'],
  ['text/csv', 'csv'],
  ['application/x-ndjson', 'ndjson'],
])

/** Learner data: one query, three formats (JSON, CSV, NDJSON). */
export const analyticsRoutes = routesOf(analytics, {
  learners: { isLong: true, handle: learners },
})

function learners(call: Call<typeof analytics.learners>) {
  const { query, database } = call
  const period = periodOf(query.start_date, query.end_date)
  const conditions = conditionsOf(database, query, period)
  const format = query.format ?? formatFor(call.accept)
  if (format !== 'json') return streamed(call, format, conditions, period)
  const first = query.cursor === undefined
  return {
    ...rowsPage(database, query, conditions),
    ...(first ? { period } : {}),
    ...(first && query.summary ? { summary: rowsSummary(database, conditions) } : {}),
  }
}

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

/** All rows as text, named after the period that was asked for. */
function streamed(
  { database, query }: Call<typeof analytics.learners>,
  format: LearnerFile['format'],
  conditions: readonly Condition[],
  period: Period,
): Streamed {
  const name = `learners${suffixOf(period)}`
  return learnerFile(database, everyRow(conditions), { ...query, name, format })
}

/** What the client likes best of what there is; JSON where it names nothing of that (RFC 9110 §12.5.1). */
function formatFor(accept: string | null): Format {
  const type = accept === null ? undefined : preferred(accept, [...formatOf.keys()])
  return formatOf.get(type ?? '') ?? 'json'
}

/** The first and the last day of a period, as part of a file's name. */
function suffixOf({ start, end }: Period): string {
  // The end itself is no longer in the period.
  const last = end === null ? null : new Date(Date.parse(end) - 1).toISOString()
  return [start, last].map((time) => (time === null ? '' : `_${time.slice(0, 10)}`)).join('')
}
