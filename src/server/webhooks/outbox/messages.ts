import sql, { join } from 'sql-template-tag'
import { type Message, messages } from '../../../contract/messages.ts'
import type { Writing } from '../../audit/entry.ts'
import { recordChange } from '../../changes/change.ts'
import { firstIdAt } from '../../database/id.ts'
import { during } from '../../database/keyset.ts'
import { page } from '../../database/page.ts'
import { routesOf } from '../../http/schema-routes.ts'
import { parked } from '../../outbox/in-hand.ts'
import { ProblemError } from '../../problem/problem-error.ts'
import { findEndpoint } from './endpoint-row.ts'
import {
  type AttemptRow,
  findMessage,
  findMessageRow,
  type MessageRow,
  messageColumns,
  toAttempt,
  toMessage,
} from './message-row.ts'

/** Maximum attempts to show, the last ones; each resend adds some. */
const shownAttempts = 50

export const messageRoutes = routesOf(messages, {
  list: ({ database, query }) =>
    page<MessageRow, Message>(
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
    ),

  async get({ database, params }) {
    const row = await findMessageRow(database, params.messageId)
    const attempts = await database.all<AttemptRow>(sql`
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
      where id = ${row.id} and (lease is null or lease = ${parked} or due_at <= ${now})`)
    const message = await findMessage(database, row.id)
    if (sent > 0) await recordResent(call, toMessage(row), message)
    return message
  },
})

function recordResent(call: Writing, before: Message, after: Message): Promise<void> {
  return recordChange(call, { action: 'message.resent', id: after.id, before, after, fields: ['status'] })
}
