import sql, { join } from 'sql-template-tag'
import { calls } from '../../contract/calls.ts'
import { type Attempt, type Message, messages } from '../../contract/messages.ts'
import { recordChange } from '../changes/change.ts'
import type { Writing } from '../changes/writing.ts'
import type { Database, Row } from '../database/database.ts'
import { firstIdAt } from '../database/id.ts'
import { during, type Page } from '../database/keyset.ts'
import { page } from '../database/page.ts'
import { fieldReader, recordReader } from '../database/record.ts'
import type { Call } from '../http/handler.ts'
import { routesOf } from '../http/schema-routes.ts'
import { notFound, ProblemError } from '../problem-error.ts'
import { findEndpoint } from './endpoint-row.ts'
import { parkedLease } from './message-queue.ts'

/** The last ones; each resend adds some. */
const shownAttempts = 50

/** From `webhook_messages m`. */
const messageColumns = sql`m.id, m.endpoint_id, m.type, m.subject, m.status, m.attempt_count, m.last_result,
  case when m.lease is null then m.due_at end as next_attempt_at, m.created_at, m.finished_at`

const toMessage = recordReader<Message>(calls.messages.list)
const toAttempt = fieldReader<Attempt>(['number', 'startedAt', 'durationMs', 'status', 'result', 'response'])

export const messageRoutes = routesOf(messages, {
  list: { isLong: true, handle: listMessages },

  async get({ database, params }) {
    const row = await findMessageRow(database, params.messageId)
    const attempts = await database.all(sql`
      select number, started_at, duration_ms, status, result, response from webhook_attempts
      where message_id = ${row.id} order by number desc limit ${shownAttempts}`)
    return { ...toMessage(row), body: row.body, attempts: attempts.reverse().map(toAttempt) }
  },

  async resend(call) {
    const { database, params, now } = call
    const row = await findMessageRow(database, params.messageId)
    const endpoint = await findEndpoint(database, row.endpoint_id, now)
    if (endpoint.status !== 'active') {
      throw new ProblemError(
        'endpoint_disabled',
        `Webhook endpoint ${endpoint.url} is disabled; set it active first.`,
      )
    }
    // Leave a message alone that is being sent.
    const sent = await database.run(sql`
      update webhook_messages set status = 'pending', step = 0, due_at = ${now}, lease = null, finished_at = null
      where id = ${row.id} and (lease is null or lease = ${parkedLease} or due_at <= ${now})`)
    const message = await findMessage(database, row.id)
    if (sent > 0) await recordResent(call, toMessage(row), message)
    return message
  },
})

function listMessages({ database, query }: Call<typeof messages.list>): Promise<Page<Message>> {
  return page<Row, Message>(
    database,
    {
      columns: messageColumns,
      from: sql`webhook_messages m`,
      within: [
        {
          field: 'createdAt',
          condition: query.endpoint_id && sql`m.endpoint_id = ${query.endpoint_id}`,
        },
        {
          field: 'createdAt',
          condition: during(sql`m.id`, query, (time) => firstIdAt('msg', Date.parse(time))),
        },
        // Always true, so that the index of ids is used instead of a table scan.
        { field: 'createdAt', condition: sql`m.id > ''` },
      ],
      where: [
        query.status && sql`m.status in (${join(query.status)})`,
        query.type && sql`m.type in (${join(query.type)})`,
      ],
    },
    // Ids sort by creation.
    { sort: '-createdAt', expressions: { createdAt: sql`m.id` }, id: sql`m.id` },
    query,
    toMessage,
  )
}

function recordResent(call: Writing, before: Message, after: Message): Promise<void> {
  return recordChange(call, { action: 'message.resent', id: after.id, before, after, fields: ['status'] })
}

async function findMessageRow(
  database: Database,
  id: string,
): Promise<Row & { readonly id: string; readonly endpoint_id: string; readonly body: string }> {
  const row = await database.one<Row & { id: string; endpoint_id: string; body: string }>(
    sql`select ${messageColumns}, m.body from webhook_messages m where m.id = ${id}`,
  )
  if (!row) throw notFound('webhook message', id)
  return row
}

export async function findMessage(database: Database, id: string): Promise<Message> {
  return toMessage(await findMessageRow(database, id))
}
