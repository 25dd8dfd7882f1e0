import sql, { join } from 'sql-template-tag'
import type { JsonObject } from '../../codec/json-object.ts'
import { isEvent, patternsOf } from '../../contract/events.ts'
import type { Transaction } from '../database/database.ts'
import { type IdMaker, timeOfId } from '../database/id.ts'
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
  const body = bodyOf({ type, timestamp: call.now, data: dataOf(type, change) })
  const stem = stemOf(call)
  // By its id and by its time it stands in the same order among others.
  const at = timeOfId(stem)
  // Who subscribes is looked up in any case: an endpoint may be gone by now. PostgreSQL cannot see the types of these values.
  call.database.later(sql`
    insert into webhook_messages (id, endpoint_id, type, subject, body, status, step, attempt_count, due_at, created_at)
    select cast(${stem} as text) || mark, endpoint_id, cast(${type} as text), cast(${subjectOf(change)} as text),
           cast(${body} as text), 'pending', 0, 0, cast(${at} as text), cast(${at} as text)
    from webhook_subscriptions where pattern in (${join(patternsOf(type))})`)
}

/** Queues a message for one endpoint, whatever it subscribes to, and tells its id. */
export function enqueueFor(
  call: Enqueuing,
  { id, mark }: { readonly id: string; readonly mark: string },
  message: NewMessage,
): string {
  const messageId = `${stemOf(call)}${mark}`
  const at = timeOfId(messageId)
  const { type, subject } = message
  call.database.later(sql`
    insert into webhook_messages (id, endpoint_id, type, subject, body, status, step, attempt_count, due_at, created_at)
    values (${messageId}, ${id}, ${type}, ${subject}, ${bodyOf(message)}, 'pending', 0, 0, ${at}, ${at})`)
  return messageId
}

/** What is sent of a message (Standard Webhooks 1.0.0, Payload structure). */
function bodyOf({ type, timestamp, data }: Omit<NewMessage, 'subject'>): string {
  return JSON.stringify({ type, timestamp, data })
}

function stemOf({ newId }: Enqueuing): string {
  return newId('msg').slice(0, -markLength)
}
