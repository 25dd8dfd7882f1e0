import sql from 'sql-template-tag'
import type { Attempt, Message } from '../../../contract/messages.ts'
import type { Database, Row } from '../../database/database.ts'
import { notFound } from '../../problem/problem-error.ts'

/** Row of a message. */
export interface MessageRow extends Row {
  readonly id: string
  readonly endpoint_id: string
  readonly type: string
  readonly subject: string
  readonly status: string
  readonly attempt_count: number
  readonly last_result: string | null
  /** Time of the next attempt, or the end of the lease while it is being sent. */
  readonly due_at: string | null
  readonly lease: string | null
  readonly created_at: string
  readonly finished_at: string | null
}

/** Row of an attempt. */
export interface AttemptRow extends Row {
  readonly number: number
  readonly started_at: string
  readonly duration_ms: number
  readonly status: number | null
  readonly result: string
  readonly response: string
}

/** Columns of a message, from `webhook_messages m`. */
export const messageColumns = sql`m.id, m.endpoint_id, m.type, m.subject, m.status, m.attempt_count, m.last_result,
  m.due_at, m.lease, m.created_at, m.finished_at`

/** Returns the row of a message; throws 404. */
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

/** Returns a message; throws 404. */
export async function findMessage(database: Database, id: string): Promise<Message> {
  return toMessage(await findMessageRow(database, id))
}

/** Converts a row to a message. */
export function toMessage(row: MessageRow): Message {
  return {
    id: row.id,
    endpointId: row.endpoint_id,
    type: row.type,
    subject: row.subject,
    status: row.status as Message['status'],
    attemptCount: row.attempt_count,
    lastResult: row.last_result,
    nextAttemptAt: row.lease === null ? row.due_at : null,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
  }
}

/** Converts a row to an attempt. */
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
