import sql from 'sql-template-tag'
import { nowhere } from '../access/principal.ts'
import { recordChange } from '../changes/change.ts'
import type { Writing } from '../changes/writing.ts'
import type { Database, Row, Store, Transaction } from '../database/database.ts'
import type { IdMaker } from '../database/id.ts'
import type { Claimed } from './claim.ts'
import { findEndpoint, removeEndpoint, toEndpoint } from './endpoint-row.ts'
import type { Outcome } from './outcome.ts'
import { heldAttempts, retryDelayMs } from './retry-schedule.ts'
import { isInSubjectIndex, parkedLease } from './subject-index.ts'

export interface Ended {
  readonly message: Claimed
  readonly endpointId: string
  readonly lease: string
  /** ISO 8601 in UTC. */
  readonly startedAt: string
  readonly durationMs: number
  readonly outcome: Outcome
  /** Random part of the next delay, 0 to 1. */
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
 * Records an attempt, unless another server has claimed the message since. A message that is delivered or
 * given up, or has failed several times, releases the next one about the same subject.
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

/** Does nothing if it is no longer active. */
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

/** Rows per transaction: some milliseconds. */
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
