import sql from 'sql-template-tag'
import type { Attempt, Message } from '../../../contract/messages.ts'
import type { Database, Row } from '../../database/database.ts'
import { notFound } from '../../problem/problem-error.ts'

/** A message as its row holds it. */
export interface MessageRow extends Row {
  readonly id: string
  readonly endpoint_id: string
  readonly type: string
  readonly subject: string
  readonly status: string
  readonly attempt_count: number
  readonly last_result: string | null
  /** When it is next to be sent, or, while somebody sends it, when they have had their time; see `lease`. */
  readonly due_at: string | null
  readonly lease: string | null
  readonly created_at: string
  readonly finished_at: string | null
}

/** One attempt as its row holds it. */
export interface AttemptRow extends Row {
  readonly number: number
  readonly started_at: string
  readonly duration_ms: number
  readonly status: number | null
  readonly result: string
  readonly response: string
}

/** The columns of a message's row, from `webhook_messages m`. */
export const messageColumns = sql`m.id, m.endpoint_id, m.type, m.subject, m.status, m.attempt_count, m.last_result,
  m.due_at, m.lease, m.created_at, m.finished_at`

/** The stored message; throws 404. */
export async function findMessageRow(
  database: Database,
  id: string,
): Promise<MessageRow & { readonly body: string }> {
  const row = await database.one<MessageRow & { body: string }>(
    sql`select ${messageColumns}, m.body from webhook_messages m where m.id = ${id}`,
  )
  if (!row) throw notFound('webhook message', id)
  return row
}

/** The stored message as it is shown; throws 404. */
export async function findMessage(database: Database, id: string): Promise<Message> {
  return toMessage(await findMessageRow(database, id))
}

/** A message as it is shown, from its row. */
export function toMessage(row: MessageRow): Message {
  return {
    id: row.id,
    endpointId: row.endpoint_id,
    type: row.type,
    subject: row.subject,
    // What is kept is one of them.
    status: row.status as Message['status'],
    attemptCount: row.attempt_count,
    lastResult: row.last_result,
    nextAttemptAt: row.lease === null ? row.due_at : null,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
  }
}

/** An attempt as it is shown, from its row. */
export function toAttempt(row: AttemptRow): Attempt {
  return {
    number: row.number,
    startedAt: row.started_at,
    durationMs: row.duration_ms,
    status: row.status,
    result: row.result,
    response: row.response,
  }
}
