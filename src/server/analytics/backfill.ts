import sql from 'sql-template-tag'
import { type EventType, patternsOf } from '../../contract/actions.ts'
import type { analytics } from '../../contract/analytics.ts'
import type { LearningRecord } from '../../lms/xapi.ts'
import { enqueueFor } from '../changes/event-queue.ts'
import type { Database } from '../database/database.ts'
import { findEndpoint } from '../events/endpoint-row.ts'
import type { Call } from '../http/handler.ts'
import { ProblemError, tooMany } from '../problem-error.ts'
import { readLearningHistory } from './learning-history.ts'
import { periodOf } from './row-filter.ts'

const maxRecords = 500
/** An endpoint with more takes none: beyond 100,000 the oldest would fail. */
const maxWaiting = 50_000
const retrySeconds = 15

/**
 * Queues what learners have reached for a learning record store, a part at a time, as if it happened now. Statements have the
 * same ids each time, so that a part can be queued again. Throws 409 for a disabled endpoint, and 429 while too many
 * messages wait for it.
 */
export async function backfill(call: Call<typeof analytics.backfill>) {
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
  await requireRoom(database, endpoint.id)
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

async function requireRoom(database: Database, endpointId: string): Promise<void> {
  const isFull = await database.one(sql`
    select 1 from webhook_messages where endpoint_id = ${endpointId} and due_at is not null
    order by due_at limit 1 offset ${maxWaiting}`)
  if (isFull) throw tooMany('messages wait for this endpoint', retrySeconds)
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
