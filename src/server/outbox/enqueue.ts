import sql, { join, type Sql } from 'sql-template-tag'
import type { JsonObject } from '../../codec/json-object.ts'
import { isEvent, patternsOf } from '../../contract/events.ts'
import type { Transaction } from '../database/database.ts'
import type { IdMaker } from '../database/id.ts'
import { type Changed, dataOf, subjectOf } from './event-data.ts'
import { isWanted } from './subscribed.ts'

/** The transaction that a change is a part of, and when it is made, ISO 8601 in UTC. */
export interface Enqueuing {
  readonly database: Pick<Transaction, 'later' | 'one' | 'dialect'>
  readonly now: string
  readonly newId: IdMaker
}

/** One message as it is kept until it is sent. */
export interface NewMessage {
  readonly type: string
  /** Whom or what it is about: messages about the same are sent in their order. */
  readonly subject: string
  readonly timestamp: string
  readonly data: JsonObject
}

/** The last characters of an id, in whose place each endpoint has its mark: of one event each gets another message. */
export const markLength = 4

/**
 * Queues what was done for each endpoint that subscribes to it, in the transaction of the change: both are kept, or
 * neither. Where nobody subscribes, that is mostly known already. Actions that are no events are left out.
 */
export async function enqueue(call: Enqueuing, change: Changed): Promise<void> {
  const type = change.action
  if (!isEvent(type) || !(await isWanted(call.database, type))) return
  const event = { type, subject: subjectOf(change), timestamp: call.now, data: dataOf(type, change) }
  // Who subscribes is looked up in any case: an endpoint may be gone by now.
  call.database.later(sql`${inserted}
    select ${valuesOf(event, sql`${text(stemOf(call))} || mark`, sql`endpoint_id`)} from webhook_subscriptions
    where pattern in (${join(patternsOf(type))})`)
}

/** Queues a message for one endpoint, whatever it subscribes to, and tells its id. */
export function enqueueFor(
  call: Enqueuing,
  { id, mark }: { readonly id: string; readonly mark: string },
  message: NewMessage,
): string {
  const messageId = `${stemOf(call)}${mark}`
  call.database.later(sql`${inserted} values (${valuesOf(message, sql`${messageId}`, sql`${id}`)})`)
  return messageId
}

const inserted = sql`
  insert into webhook_messages (id, endpoint_id, type, subject, body, status, step, attempt_count, due_at, created_at)`

/** What each column of a message holds, in the order in which `inserted` names them. */
function valuesOf({ type, subject, timestamp, data }: NewMessage, id: Sql, endpointId: Sql): Sql {
  const body = JSON.stringify({ type, timestamp, data })
  return sql`${id}, ${endpointId}, ${text(type)}, ${text(subject)}, ${text(body)}, 'pending', 0, 0, ${text(timestamp)},
    ${text(timestamp)}`
}

function stemOf({ newId }: Enqueuing): string {
  return newId('msg').slice(0, -markLength)
}

/** A value of a list of columns, whose type PostgreSQL cannot see. */
function text(value: string): Sql {
  return sql`cast(${value} as text)`
}
