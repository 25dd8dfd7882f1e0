import sql, { join } from 'sql-template-tag'
import type { Database, Row, Store } from '../database/database.ts'
import { removeEndpoint } from './endpoint-row.ts'
import { release } from './record-attempt.ts'

/** Rows per transaction: some milliseconds. */
const pieceRows = 500
const maxPieces = 100
/** Maximum messages that wait for an endpoint; the oldest are given up. */
const maxWaiting = 100_000
const maxEndpoints = 1000

/**
 * Ends expired endpoints, deletes the messages of removed ones, and shortens overlong queues, in small
 * transactions, between which others can write.
 */
export async function tidyOutbox(database: Store, now: Date, most = maxWaiting): Promise<void> {
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
    else await giveUpBeyond(database, id, time, most)
  }
}

async function removeMessages(database: Store, endpointId: string): Promise<void> {
  const rows = sql`select id from webhook_messages where endpoint_id = ${endpointId} limit ${pieceRows}`
  for (let piece = 0; piece < maxPieces; piece += 1) {
    const removed = await database.write((transaction) =>
      transaction.run(sql`delete from webhook_messages where id in (${rows})`),
    )
    if (removed === pieceRows) continue
    await database.write((transaction) =>
      transaction.run(sql`delete from webhook_endpoints where id = ${endpointId}`),
    )
    return
  }
}

async function giveUpBeyond(database: Store, endpointId: string, time: string, most: number): Promise<void> {
  const queue = sql`from webhook_messages where endpoint_id = ${endpointId} and due_at is not null`
  const isTooLong = await database.one(sql`select 1 ${queue} order by due_at limit 1 offset ${most}`)
  if (!isTooLong) return
  // By id, because the due time says little about the age: some have failed, and some wait for others.
  const last = await database.one<Row & { id: string }>(
    sql`select id ${queue} order by id desc limit 1 offset ${most}`,
  )
  if (!last) return
  for (let piece = 0; piece < maxPieces; piece += 1) {
    const given = await database.write(async (transaction) => {
      const old = await transaction.all<Row & { id: string; subject: string }>(
        sql`select id, subject ${queue} and id <= ${last.id} order by due_at limit ${pieceRows}`,
      )
      if (old.length > 0) await giveUp(transaction, endpointId, time, old, most)
      return old.length
    })
    if (given < pieceRows) return
  }
}

async function giveUp(
  database: Database,
  endpointId: string,
  time: string,
  messages: readonly { readonly id: string; readonly subject: string }[],
  most: number,
): Promise<void> {
  await database.run(sql`
    update webhook_messages set
      status = 'failed', last_result = ${`Given up: more than ${most} messages waited`}, due_at = null, lease = null,
      finished_at = ${time}
    where id in (${join(messages.map(({ id }) => id))})`)
  // Release messages that waited for one of them.
  for (const subject of new Set(messages.map((message) => message.subject))) {
    await release(database, subject, endpointId)
  }
}
