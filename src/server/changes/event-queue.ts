import sql, { join } from 'sql-template-tag'
import type { JsonObject } from '../../codec/json-text.ts'
import { type EventType, isEvent, patternsOf } from '../../contract/actions.ts'
import type { Database, Store, Transaction } from '../database/database.ts'
import { type IdMaker, timeOfId } from '../database/id.ts'

interface Enqueuing {
  readonly database: Pick<Transaction, 'queue' | 'one' | 'dialect'>
  readonly now: string
  readonly newId: IdMaker
}

interface NewMessage {
  readonly type: string
  /** Id of its subject; messages about the same subject are sent in order. */
  readonly subject: string
  readonly timestamp: string
  readonly data: JsonObject
}

/** Length of the endpoint's mark, which replaces the end of an event's id: each endpoint gets its own message. */
export const markLength = 4

/** Queues an event for each subscribed endpoint, in the transaction of the change. Actions that are not events are skipped. */
export async function enqueue(call: Enqueuing, change: Changed): Promise<void> {
  const type = change.action
  if (!isEvent(type)) return
  const captured = capturedEventsOf(call.database)
  const isQueued = await hasSubscribers(call.database, type)
  if (!captured && !isQueued) return
  const event = { type, timestamp: call.now, data: dataOf(type, change) }
  const body = bodyOf(event)
  const id = call.newId('msg')
  captured?.push({ id, ...event, body })
  if (!isQueued) return
  const stem = stemOf(id)
  // The due time comes from the id, so that both sort alike.
  const at = timeOfId(stem)
  // Subscriptions are read again: the cached answer may be old. PostgreSQL needs the casts.
  call.database.queue(sql`
    insert into webhook_messages (id, endpoint_id, type, subject, body, status, step, attempt_count, due_at, created_at)
    select cast(${stem} as text) || mark, endpoint_id, cast(${type} as text), cast(${subjectOf(change)} as text),
           cast(${body} as text), 'pending', 0, 0, cast(${at} as text), cast(${at} as text)
    from webhook_subscriptions where pattern in (${join(patternsOf(type))})
      and (courses is null or courses like ${`%${courseOf(change) ?? '!'}%`})`)
}

/** Queues a message for one endpoint, regardless of its subscriptions; returns its id. */
export function enqueueFor(
  call: Enqueuing,
  { id, mark }: { readonly id: string; readonly mark: string },
  message: NewMessage,
): string {
  const messageId = `${stemOf(call.newId('msg'))}${mark}`
  const at = timeOfId(messageId)
  const { type, subject } = message
  call.database.queue(sql`
    insert into webhook_messages (id, endpoint_id, type, subject, body, status, step, attempt_count, due_at, created_at)
    values (${messageId}, ${id}, ${type}, ${subject}, ${bodyOf(message)}, 'pending', 0, 0, ${at}, ${at})`)
  return messageId
}

/** Returns the body of a message (Standard Webhooks 1.0.0, Payload structure). */
function bodyOf({ type, timestamp, data }: Omit<NewMessage, 'subject'>): string {
  return JSON.stringify({ type, timestamp, data })
}

function stemOf(id: string): string {
  return id.slice(0, -markLength)
}

interface Changed {
  readonly action: string
  readonly id: string
  readonly before: object | null
  readonly after: object | null
}

/** Short fields in the events of each noun; receivers get the others from the API. */
export const eventFields: Readonly<Record<string, readonly string[]>> = {
  course: ['id', 'externalId', 'title', 'status', 'version', 'updatedAt'],
  lesson: ['id', 'externalId', 'courseId', 'moduleId', 'title', 'order', 'status', 'version', 'updatedAt'],
  user: ['id', 'externalId', 'email', 'role', 'status', 'version', 'updatedAt'],
  enrollment: [
    ...['id', 'courseId', 'courseExternalId', 'userId', 'userExternalId', 'role', 'status', 'enrolledAt'],
    ...['completedAt', 'source', 'version', 'updatedAt'],
  ],
  group: ['id', 'externalId', 'name', 'courseId', 'courseExternalId', 'version', 'updatedAt'],
  membership: ['id', 'groupId', 'groupExternalId', 'userId', 'userExternalId', 'addedAt'],
  progress: [
    ...['learnerId', 'userExternalId', 'courseId', 'courseExternalId', 'completionPercentage', 'status'],
    ...['startedAt', 'lastAccessed', 'completedAt', 'version', 'updatedAt'],
  ],
  grade: [
    ...['id', 'learnerId', 'userExternalId', 'courseId', 'courseExternalId', 'itemId', 'source', 'label'],
    ...['scoreGiven', 'scoreMaximum', 'percent', 'published', 'gradedAt', 'version', 'updatedAt'],
  ],
}

/** Returns the data of an event: the record after the change, or before its deletion. */
function dataOf(type: EventType, { before, after, id }: Changed): JsonObject {
  const noun = type.slice(0, type.indexOf('.'))
  const record = type.endsWith('.erased') ? {} : recordOf({ before, after })
  const data: JsonObject = noun === 'progress' ? {} : { id }
  for (const field of eventFields[noun] ?? []) if (Object.hasOwn(record, field)) data[field] = record[field]
  return data
}

function courseOf({ action, before, after, id }: Changed): string | null {
  if (action.startsWith('course.')) return id
  const courseId = recordOf({ before, after })['courseId']
  return typeof courseId === 'string' ? courseId : null
}

/** Returns the subject of a change: the learner, else the course, else the record itself. */
function subjectOf({ before, after, id }: Changed): string {
  const record = recordOf({ before, after })
  return String(record['learnerId'] ?? record['userId'] ?? record['courseId'] ?? id)
}

function recordOf({ before, after }: Pick<Changed, 'before' | 'after'>): JsonObject {
  return (after ?? before ?? {}) as JsonObject
}

/** Lifetime of the cache; endpoints created by other processes get their first event after it. */
const cacheMs = 1000
/** Longer than a transaction that changes subscriptions. */
const maxTransactionMs = 10_000

interface CachedAnswer {
  readonly hasSubscribers: boolean
  /** By performance.now(). */
  readonly untilMs: number
}

const subscribersByDatabase = new WeakMap<object, Map<string, CachedAnswer>>()
let settledAtMs = 0

/**
 * False if no endpoint subscribes to an event, so that it need not be written. Cached for a second; always true for a while
 * after this process has changed subscriptions.
 */
export async function hasSubscribers(
  database: Pick<Database, 'dialect' | 'one'>,
  type: string,
  nowMs = performance.now(),
): Promise<boolean> {
  if (nowMs < settledAtMs) return true
  // The dialect identifies a database: its transactions share it.
  const ofDatabase = subscribersByDatabase.get(database.dialect) ?? new Map<string, CachedAnswer>()
  const found = ofDatabase.get(type)
  if (found && nowMs < found.untilMs) return found.hasSubscribers
  const row = await database.one(
    sql`select 1 from webhook_subscriptions where pattern in (${join(patternsOf(type))}) limit 1`,
  )
  // Subscriptions may have changed during the query.
  if (nowMs < settledAtMs) return true
  ofDatabase.set(type, { hasSubscribers: row !== undefined, untilMs: nowMs + cacheMs })
  subscribersByDatabase.set(database.dialect, ofDatabase)
  return row !== undefined
}

export function forgetSubscribers(nowMs = performance.now()): void {
  settledAtMs = nowMs + maxTransactionMs
}

/** An event as a receiver of Standard Webhooks gets it. */
export interface CapturedEvent {
  /** Value of the header `webhook-id`. */
  readonly id: string
  readonly type: EventType
  /** Time of the change, ISO 8601 in UTC. */
  readonly timestamp: string
  readonly data: JsonObject
  /** The request body, to the byte: JSON with type, timestamp and data. */
  readonly body: string
}

/** Receives the events of a transaction after its commit, in the order of its changes. */
export type OnEvents = (events: readonly CapturedEvent[]) => void

interface Capturing extends Transaction {
  readonly captured: CapturedEvent[]
}

/** Passes them on whether an endpoint subscribes or not. The reply to a request follows after its events. */
export function captureEvents(store: Store, onEvents: OnEvents): Store {
  return {
    ...store,
    async write(work) {
      const { result, events } = await store.write(async (transaction) => {
        // A transaction that is repeated after a conflict begins with none.
        const events: CapturedEvent[] = []
        return { result: await work(captured(transaction, events)), events }
      })
      if (events.length > 0) onEvents(events)
      return result
    },
  }
}

/** Undefined if its store is not captured. */
export function capturedEventsOf(transaction: object): CapturedEvent[] | undefined {
  // Copies of a transaction keep the list.
  return 'captured' in transaction ? (transaction as Capturing).captured : undefined
}

function captured(transaction: Transaction, events: CapturedEvent[]): Capturing {
  return {
    ...transaction,
    captured: events,
    async savepoint(work) {
      const { length } = events
      try {
        return await transaction.savepoint(work)
      } catch (error) {
        // Their changes were rolled back.
        events.length = length
        throw error
      }
    },
  }
}
