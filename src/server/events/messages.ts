import sql, { join, raw, type Sql } from 'sql-template-tag'
import { calls } from '../../contract/calls.ts'
import { type Attempt, type Message, messages } from '../../contract/messages.ts'
import { nowhere } from '../access/principal.ts'
import { recordChange } from '../changes/change.ts'
import type { Writing } from '../changes/writing.ts'
import type { Database, Row, Store, Transaction } from '../database/database.ts'
import { firstIdAt, type IdMaker } from '../database/id.ts'
import { during, type Page, page } from '../database/page.ts'
import { fieldReader, recordReader } from '../database/record.ts'
import type { Call } from '../http/handler.ts'
import { routesOf } from '../http/schema-routes.ts'
import { notFound, ProblemError } from '../problem-error.ts'
import type { Claimed, Outcome } from './delivery.ts'
import { findEndpoint, removeEndpoint, toEndpoint } from './endpoint-row.ts'

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

interface Claiming {
  readonly endpointId: string
  readonly now: Date
  /** Of the lease; ISO 8601 in UTC. */
  readonly until: string
  readonly lease: string
  readonly maxMessages: number
  /** All claimed messages are one delivery, so that messages about the same subject can go together. */
  readonly isBatch: boolean
}

interface Due extends Row {
  readonly id: string
  readonly subject: string
  readonly step: number
  readonly is_held: number
}

/** Due messages to look at for each one to claim, because some wait for others about the same subject. */
const candidatesPerClaim = 4
const maxRounds = 20
/** Time after which a waiting message is checked again; the message before it usually releases it earlier. */
const parkedMs = 60 * 60 * 1000

/**
 * Claims due messages of an endpoint, the longest due first. Each message has one claimer among all servers
 * on the database. A message that follows another about the same subject waits until that one is delivered,
 * given up or has failed several times.
 */
export async function claim(database: Transaction, claiming: Claiming): Promise<Claimed[]> {
  const parkedUntil = new Date(claiming.now.getTime() + parkedMs).toISOString()
  const claimed: Claimed[] = []
  for (let round = 0; round < maxRounds; round += 1) {
    const wanted = claiming.maxMessages - claimed.length
    const { free, waiting } = sortDue(await dueMessages(database, claiming, wanted), wanted, claiming.isBatch)
    if (waiting.length > 0) {
      await database.run(sql`
        update webhook_messages set due_at = ${parkedUntil}, lease = ${parkedLease} where id in (${join(waiting)})`)
    }
    if (free.length > 0) claimed.push(...(await claimRows(database, claiming, free)))
    if (waiting.length === 0 || claimed.length === claiming.maxMessages) break
  }
  // Ids are in the order of creation.
  return claiming.isBatch ? claimed.toSorted((one, other) => (one.id < other.id ? -1 : 1)) : claimed
}

/** Returns the ids of messages that can be sent, and of earlier ones that have to wait. */
function sortDue(
  due: readonly Due[],
  wanted: number,
  isBatch: boolean,
): { free: string[]; waiting: string[] } {
  const free: string[] = []
  const waiting: string[] = []
  const busy = new Set<string>()
  for (const { id, subject, step, is_held: isHeld } of due) {
    const isWaiting = isHeld === 1 || busy.has(subject)
    if (isWaiting) waiting.push(id)
    else if (free.length === wanted) break
    else free.push(id)
    if (step < heldAttempts && (isWaiting || !isBatch)) busy.add(subject)
  }
  return { free, waiting }
}

/** Lists due messages, the longest due first; only a claimed message can be earlier and due later. */
function dueMessages(
  database: Transaction,
  { endpointId, now, isBatch }: Claiming,
  wanted: number,
): Promise<Due[]> {
  // A due message goes together with the following ones.
  const isLater = isBatch ? sql`and p.due_at > ${now.toISOString()}` : sql``
  // With row locks, concurrent servers skip each other's rows.
  return database.all<Due>(sql`
    select m.id, m.subject, m.step, case when exists (
        select 1 from webhook_messages p
        where p.subject = m.subject and p.endpoint_id = m.endpoint_id and p.status = 'pending' and p.id < m.id
          and p.step < ${heldAttempts} and ${isInSubjectIndex('p')} ${isLater}) then 1 else 0 end as is_held
    from webhook_messages m where m.endpoint_id = ${endpointId} and m.due_at <= ${now.toISOString()}
    order by m.due_at, m.id limit ${wanted * candidatesPerClaim} ${database.dialect.lockedRows('m')}`)
}

async function claimRows(
  database: Transaction,
  { until, lease }: Claiming,
  ids: readonly string[],
): Promise<Claimed[]> {
  if (ids.length === 0) return []
  const taken = await database.all<Claimed>(sql`
    update webhook_messages set due_at = ${until}, lease = ${lease} where id in (${join(ids)})
    returning id, type, subject, body, step, attempt_count`)
  return taken.toSorted((one, other) => ids.indexOf(one.id) - ids.indexOf(other.id))
}

const second = 1000
const minute = 60 * second
const hour = 60 * minute

/** After each failed attempt; after the last one the message is given up. */
export const retryDelaysMs: readonly number[] = [
  ...[5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour],
]

/** About 35 minutes, until later messages about the same subject no longer wait. */
export const heldAttempts = 4

/** Random deviation of a delay, so that messages that failed together are not retried together. */
const jitter = 0.1

/** After this many failed attempts, at least one; undefined to give up. */
export function retryDelayMs(failed: number, random: () => number): number | undefined {
  const delay = retryDelaysMs[failed - 1]
  return delay === undefined ? undefined : Math.round(delay * (1 - jitter + 2 * jitter * random()))
}

export interface Ended {
  readonly message: Claimed
  readonly endpointId: string
  readonly lease: string
  /** ISO 8601 in UTC. */
  readonly startedAt: string
  readonly durationMs: number
  readonly outcome: Outcome
  readonly chance: number
}

interface Recording {
  readonly database: Transaction
  readonly now: Date
  readonly newId: IdMaker
}

/** A released message is due at its creation, so that no later message precedes it. */
const dueAgain = sql`created_at`

/**
 * Does nothing if another server has claimed the message since. A message that is delivered or given up, or has failed several
 * times, releases the next one about the same subject.
 */
export async function recordAttempt(recording: Recording, ended: Ended): Promise<void> {
  const { database } = recording
  const now = recording.now.toISOString()
  const { message, endpointId, lease, outcome } = ended
  if (outcome.kind === 'released') {
    await database.run(sql`
      update webhook_messages set due_at = ${dueAgain}, lease = null where id = ${message.id} and lease = ${lease}`)
    return
  }
  const step = message.step + 1
  const delay = outcome.kind === 'failed' ? retryDelayMs(step, () => ended.chance) : undefined
  const isOver = delay === undefined
  const dueAt = isOver ? null : timeAfter(recording.now, Math.max(delay, outcome.pauseMs))
  const status = outcome.kind === 'delivered' ? 'delivered' : isOver ? 'failed' : 'pending'
  const updated = await database.run(sql`
    update webhook_messages set
      status = ${status}, step = ${step}, attempt_count = attempt_count + 1, last_result = ${outcome.result},
      due_at = ${dueAt}, lease = null, finished_at = ${isOver ? now : null}
    where id = ${message.id} and lease = ${lease}`)
  if (updated === 0) return
  await database.run(sql`
    insert into webhook_attempts (message_id, number, started_at, duration_ms, status, result, response)
    values (${message.id}, ${message.attempt_count + 1}, ${ended.startedAt}, ${ended.durationMs}, ${outcome.status},
            ${outcome.result}, ${outcome.response})`)
  if (isOver || step === heldAttempts) await release(database, message.subject, endpointId)
  if (outcome.pauseMs > 0) {
    const until = timeAfter(recording.now, outcome.pauseMs)
    await database.run(sql`
      update webhook_endpoints set paused_until = ${until}
      where id = ${endpointId} and (paused_until is null or paused_until < ${until})`)
  }
  if (outcome.kind === 'gone') await disable(recording, endpointId)
}

/** Makes the first message due that waits for others about the same subject, before all later ones. */
async function release(database: Database, subject: string, endpointId: string): Promise<void> {
  await database.run(sql`
    update webhook_messages set due_at = ${dueAgain}, lease = null where id = (
      select m.id from webhook_messages m
      where m.subject = ${subject} and m.endpoint_id = ${endpointId} and m.status = 'pending' and m.lease = ${parkedLease}
        and ${isInSubjectIndex('m')}
      order by m.id limit 1)`)
}

async function disable({ database, now: date, newId }: Recording, endpointId: string): Promise<void> {
  const now = date.toISOString()
  const disabled = await database.run(sql`
    update webhook_endpoints set
      status = 'disabled', disabled_reason = 'gone', version = version + 1, updated_at = ${now}
    where id = ${endpointId} and status = 'active' and deleted_at is null`)
  if (disabled === 0) return
  await database.run(sql`delete from webhook_subscriptions where endpoint_id = ${endpointId}`)
  const after = toEndpoint(await findEndpoint(database, endpointId, ''), now)
  const before = { ...after, status: 'active', disabledReason: null, version: after.version - 1 }
  const principal = { userId: null, credential: `webhook:${endpointId}` }
  const writing: Writing = { database, now, newId, principal, origin: nowhere }
  await recordChange(writing, { action: 'endpoint.disabled', id: endpointId, before, after })
}

function timeAfter(now: Date, ms: number): string {
  return new Date(now.getTime() + ms).toISOString()
}

const batchRows = 500
const maxBatches = 100
const maxEndpoints = 1000

/**
 * Ends expired endpoints, and deletes the messages of removed ones in small transactions, between which
 * others can write.
 */
export async function tidyOutbox(database: Store, now: Date): Promise<void> {
  const time = now.toISOString()
  const endpoints = await database.all<
    Row & { id: string; expires_at: string | null; deleted_at: string | null }
  >(sql`
    select id, expires_at, deleted_at from webhook_endpoints where created_at >= '' order by created_at
    limit ${maxEndpoints}`)
  for (const { id, expires_at: expiresAt, deleted_at: deletedAt } of endpoints) {
    const isOver = deletedAt === null && expiresAt !== null && expiresAt <= time
    if (isOver) await database.write((transaction) => removeEndpoint(transaction, id, time))
    if (isOver || deletedAt !== null) await removeMessages(database, id)
  }
}

async function removeMessages(database: Store, endpointId: string): Promise<void> {
  const rows = sql`select id from webhook_messages where endpoint_id = ${endpointId} limit ${batchRows}`
  for (let batch = 0; batch < maxBatches; batch += 1) {
    const removed = await database.write((transaction) =>
      transaction.run(sql`delete from webhook_messages where id in (${rows})`),
    )
    if (removed === batchRows) continue
    await database.write((transaction) =>
      transaction.run(sql`delete from webhook_endpoints where id = ${endpointId}`),
    )
    return
  }
}

/** Lease of a parked message, which waits for an earlier one about the same subject. */
export const parkedLease = ''

/**
 * Returns the condition of the partial index by subject, word for word: messages that a dispatcher has touched. New messages
 * are not in it, which makes writing them cheaper.
 */
function isInSubjectIndex(message: string): Sql {
  return raw(`(${message}.lease is not null or ${message}.step > 0 or ${message}.due_at is null)`)
}

export async function deleteMessagesAbout(database: Database, subject: string): Promise<void> {
  await database.run(
    sql`delete from webhook_messages as m where m.subject = ${subject} and ${isInSubjectIndex('m')}`,
  )
  // The index of due messages contains the subject.
  await database.run(sql`
    delete from webhook_messages where id in (
      select id from webhook_messages where due_at is not null and subject = ${subject})`)
}
