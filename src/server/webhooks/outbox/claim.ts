import sql, { join, raw } from 'sql-template-tag'
import type { Row, Transaction } from '../../database/database.ts'
import { heldAttempts } from './schedule.ts'

/** A message that is to be sent now, by whoever claimed it. */
export interface Claimed extends Row {
  readonly id: string
  readonly type: string
  readonly subject: string
  readonly body: string
  /** Failed attempts since it was queued, or sent again. */
  readonly step: number
  /** All attempts so far. */
  readonly attempt_count: number
}

/** Who claims, how much, and for how long. */
export interface Claiming {
  readonly endpointId: string
  /** ISO 8601 in UTC; so are the others. */
  readonly now: string
  /** Until when nobody else sends what is claimed. */
  readonly until: string
  /** Tells this claim from all others. */
  readonly lease: string
  readonly most: number
}

/** So many due messages are looked at, most of which may wait for others about the same subject. */
const lookedAt = 100

/**
 * Claims due messages of an endpoint, each for one sender among all servers on the database, the longest due first. One
 * that follows another about the same subject is not due any more until that one is delivered, given up or
 * has failed several times.
 */
export async function claim(database: Transaction, claiming: Claiming): Promise<Claimed[]> {
  const claimed: Claimed[] = []
  for (let isMore = true; isMore && claimed.length < claiming.most; ) {
    const due = await dueMessages(database, claiming)
    const free = due.filter(({ is_held: held }) => held === 0).slice(0, claiming.most - claimed.length)
    const held = due.filter(({ is_held: held }) => held === 1)
    if (held.length > 0) {
      await database.run(
        sql`update webhook_messages set due_at = null, lease = null where id in (${idsOf(held)})`,
      )
    }
    if (free.length > 0) {
      await database.run(sql`
        update webhook_messages set due_at = ${claiming.until}, lease = ${claiming.lease} where id in (${idsOf(free)})`)
    }
    claimed.push(...free)
    isMore = held.length > 0
  }
  return claimed
}

function dueMessages(database: Transaction, { endpointId, now }: Claiming) {
  // Servers that claim at the same time do not wait for each other, where rows can be locked.
  const locked = raw(database.dialect.name === 'postgres' ? 'for update of m skip locked' : '')
  return database.all<Claimed & { is_held: number }>(sql`
    select m.id, m.type, m.subject, m.body, m.step, m.attempt_count, case when exists (
        select 1 from webhook_messages p
        where p.subject = m.subject and p.endpoint_id = m.endpoint_id and p.status = 'pending' and p.id < m.id
          and p.step < ${heldAttempts}) then 1 else 0 end as is_held
    from webhook_messages m where m.endpoint_id = ${endpointId} and m.due_at <= ${now}
    order by m.due_at, m.id limit ${lookedAt} ${locked}`)
}

function idsOf(messages: readonly Claimed[]) {
  return join(messages.map(({ id }) => id))
}
