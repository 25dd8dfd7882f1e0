import sql, { join, raw, type Sql } from 'sql-template-tag'
import { type EventType, patternsOf } from '../../contract/actions.ts'
import { analytics, type analyticsFormats, type Period } from '../../contract/analytics.ts'
import { calls } from '../../contract/calls.ts'
import { attentionKinds } from '../../contract/constants.ts'
import type { Query } from '../../contract/operation.ts'
import type { AtRiskRow } from '../../contract/questions.ts'
import { type LearningRecord, StatementMaker } from '../../lms/xapi.ts'
import type { Asking } from '../access/sight.ts'
import { enqueueFor } from '../changes/event-queue.ts'
import type { Row } from '../database/database.ts'
import type { Page } from '../database/page.ts'
import { findEndpoint } from '../events/endpoint-row.ts'
import type { Call } from '../http/handler.ts'
import { choosePreferred } from '../http/negotiation.ts'
import type { Streamed } from '../http/reply.ts'
import { routesOf } from '../http/schema-routes.ts'
import { ProblemError } from '../problem-error.ts'
import { readActivity } from './activity.ts'
import { pageOfDataRows, readChanges } from './change-feed.ts'
import { filteredRows, type LearnerFile, streamLearnerFile } from './export.ts'
import { attentionConditions } from './figures.ts'
import { listItemGrades } from './item-grades.ts'
import { readFilteredPage, readShapedPage } from './learner-pages.ts'
import { readLearningHistory } from './learning-history.ts'
import { readReport } from './report.ts'
import { periodOf, type RowFilter, rowFilterOf } from './row-filter.ts'
import { expressionByColumn } from './rows.ts'
import { summariseFilter } from './summary.ts'

type Format = (typeof analyticsFormats)[number]

const formatOf: ReadonlyMap<string, Format> = new Map([
  ['application/json', 'json'],
  ['text/csv', 'csv'],
  ['application/x-ndjson', 'ndjson'],
])

export const analyticsRoutes = routesOf(analytics, {
  learners: { isLong: true, handle: listLearners },
  atRisk: { isLong: true, handle: listAtRisk },
  activity: { isLong: true, handle: readActivity },
  grades: { isLong: true, handle: listItemGrades },
  rows: { isLong: true, handle: ({ database, query }) => pageOfDataRows(database, query) },
  changes: { isLong: true, handle: ({ database, query }) => readChanges(database, query) },
  report: { isLong: true, handle: readReport },
  statements: listStatements,
  backfill,
})

async function listStatements(call: Call<typeof analytics.statements>) {
  const { actor, home_page: homePage, xapi_version: version, ...query } = call.query
  const period = periodOf(query.start_date, query.end_date)
  const { data, nextCursor } = await readLearningHistory(call, period)
  const maker = new StatementMaker({ actor, homePage, version })
  return { data: data.map((record) => maker.statementOf(record)), nextCursor }
}

async function listLearners(call: Call<typeof analytics.learners>) {
  const { query, database } = call
  const period = periodOf(query.start_date, query.end_date)
  const filter = await rowFilterOf(call, period)
  const format = query.format ?? formatFor(call.accept)
  if (format !== 'json') return streamLearners(call, format, filter, period)
  const first = query.cursor === undefined
  return {
    ...(await readFilteredPage(database, query, filter)),
    ...(first ? { period } : {}),
    ...(first && query.summary
      ? { summary: await summariseFilter(database, filter, new Date(call.now)) }
      : {}),
  }
}

function streamLearners(
  { database, query }: Call<typeof analytics.learners>,
  format: LearnerFile['format'],
  filter: RowFilter,
  period: Period,
): Streamed {
  const name = `learners${suffixOf(period)}`
  return streamLearnerFile(database, filteredRows(filter), { ...query, name, format })
}

/** JSON if the client accepts none of the three (RFC 9110 §12.5.1). */
function formatFor(accept: string | null): Format {
  const type = accept === null ? undefined : choosePreferred(accept, [...formatOf.keys()])
  return formatOf.get(type ?? '') ?? 'json'
}

function suffixOf({ start, end }: Period): string {
  // The end of a period is exclusive.
  const last = end === null ? null : new Date(Date.parse(end) - 1).toISOString()
  return [start, last].map((time) => (time === null ? '' : `_${time.slice(0, 10)}`)).join('')
}

const maxRecords = 500

/**
 * Queues what learners have reached for a learning record store, a part at a time, as if it happened now. Statements have the
 * same ids each time, so that a part can be queued again. Throws 409 for a disabled endpoint.
 */
async function backfill(call: Call<typeof analytics.backfill>) {
  const { database, query, now } = call
  const period = periodOf(query.start_date, query.end_date)
  const endpoint = await findEndpoint(database, query.endpoint_id, now)
  if (endpoint.kind !== 'xapi') {
    const detail = 'must be an endpoint of kind xapi'
    const message = `Webhook endpoint ${endpoint.url} is of kind ${endpoint.kind}; only one of kind xapi takes statements.`
    throw new ProblemError('invalid_parameter', message, {
      errors: [{ parameter: 'endpoint_id', code: 'not_applicable', detail }],
    })
  }
  if (endpoint.status !== 'active') {
    const detail = `Webhook endpoint ${endpoint.url} is disabled; set it active first.`
    throw new ProblemError('endpoint_disabled', detail)
  }
  const { endpoint_id: _, ...filter } = query
  const { data, nextCursor } = await readLearningHistory(
    { ...call, query: { ...filter, limit: maxRecords } },
    period,
  )
  const patterns: readonly string[] = JSON.parse(endpoint.events)
  const events = data.map(eventOf).filter((event) => event !== undefined)
  const wanted = events.filter(({ type }) => patternsOf(type).some((pattern) => patterns.includes(pattern)))
  for (const event of wanted) enqueueFor(call, endpoint, event)
  return { queued: wanted.length, nextCursor }
}

/** None for the grade of a course, which follows from each score. */
function eventOf({ kind, record }: LearningRecord) {
  if (kind === 'courseGrade') return undefined
  const { learner, course, ...own } = record
  const type: EventType =
    kind === 'grade' ? 'grade.updated' : kind === 'completion' ? 'progress.completed' : 'progress.updated'
  const data = {
    learnerId: learner.id,
    courseId: course.id,
    ...own,
    ...(kind === 'grade' && { published: true }),
  }
  const timestamp = 'gradedAt' in record ? record.gradedAt : record.lastAccessed
  return { type, subject: learner.id, timestamp, data }
}

interface AskingForRisk extends Asking {
  readonly query: Query<typeof analytics.atRisk>
  readonly now: string
}

/**
 * Reads a page of learners who may need help: those with one of the reasons of the query, each with all of its reasons.
 * Throws 404 for filters as `rowFilterOf` does, and 400 `invalid_cursor`.
 */
async function listAtRisk(call: AskingForRisk): Promise<Page<AtRiskRow>> {
  const { database, query, now } = call
  const conditions = attentionConditions(new Date(now), {
    inactiveDays: query.inactive_days,
    stuckDays: query.stuck_days,
    stuckBelow: query.stuck_below,
  })
  const filter = await rowFilterOf(call, { start: null, end: null })
  const wanted = (query.reason ?? attentionKinds).map((kind) => conditions[kind])
  const isAtRisk = sql`(${join(wanted, ' or ')})`
  const flags = attentionKinds.map(
    (kind) => sql`case when ${conditions[kind]} then 1 else 0 end as ${raw(kind)}`,
  )
  return readShapedPage(
    database,
    { limit: query.limit, cursor: query.cursor, include_total: false },
    { ...filter, ofProgress: [...filter.ofProgress, isAtRisk] },
    { columns: sql`${columns}, ${join(flags)}`, show: toAtRiskRow },
  )
}

const expressions: Readonly<Record<string, Sql>> = {
  ...expressionByColumn,
  progressedAt: sql`p.risen_at`,
  passingScore: sql`c.passing_score`,
}

const names = calls.analytics.atRisk.holds.answer
const columns = join(
  names.flatMap((name) => (expressions[name] ? [sql`${expressions[name]} as ${raw(`"${name}"`)}`] : [])),
)

function toAtRiskRow(row: Row): AtRiskRow {
  const reasons = attentionKinds.filter((kind) => row[kind] === 1)
  return Object.fromEntries(
    names.map((name) => [name, name === 'reasons' ? reasons : (row[name] ?? null)]),
  ) as unknown as AtRiskRow
}
