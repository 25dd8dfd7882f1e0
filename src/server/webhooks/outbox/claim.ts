import sql, { join } from 'sql-template-tag'
import type { Row, Transaction } from '../../database/database.ts'
import { inHand, parked } from '../../outbox/in-hand.ts'
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
  readonly now: Date
  /** Until when nobody else sends what is claimed; ISO 8601 in UTC. */
  readonly until: string
  /** Tells this claim from all others. */
  readonly lease: string
  readonly most: number
}

interface Due extends Row {
  readonly id: string
  readonly subject: string
  readonly step: number
  readonly is_held: number
}

/** So many due messages are looked at for each that is wanted: some wait for others about the same subject. */
const lookedAtEach = 4
const mostRounds = 20
/** What waits for another is looked at again after so long, should that one be gone; it is mostly let go long before. */
const parkedMs = 60 * 60 * 1000

/**
 * Claims due messages of an endpoint, each for one sender among all servers on the database, the longest due first. One
 * that follows another about the same subject is put aside until that one is delivered, given up or has failed several
 * times.
 */
export async function claim(database: Transaction, claiming: Claiming): Promise<Claimed[]> {
  const parkedUntil = new Date(claiming.now.getTime() + parkedMs).toISOString()
  const claimed: Claimed[] = []
  for (let round = 0; round < mostRounds; round += 1) {
    const wanted = claiming.most - claimed.length
    const { free, held } = sorted(await dueMessages(database, claiming, wanted), wanted)
    if (held.length > 0) {
      await database.run(sql`
        update webhook_messages set due_at = ${parkedUntil}, lease = ${parked} where id in (${join(held)})`)
    }
    if (free.length > 0) claimed.push(...(await take(database, claiming, free)))
    if (held.length === 0 || claimed.length === claiming.most) break
  }
  return claimed
}

/** The ids of those that can be sent, as many as are wanted, and of those on the way to them that have to wait. */
function sorted(due: readonly Due[], wanted: number): { free: string[]; held: string[] } {
  const free: string[] = []
  const held: string[] = []
  const busy = new Set<string>()
  for (const { id, subject, step, is_held: isHeld } of due) {
    if (isHeld === 1 || busy.has(subject)) held.push(id)
    else if (free.length === wanted) break
    else free.push(id)
    if (step < heldAttempts) busy.add(subject)
  }
  return { free, held }
}

/** What is not in hand is due in the order in which it was made: only what is in hand can be before it and later due. */
function dueMessages(database: Transaction, { endpointId, now }: Claiming, wanted: number): Promise<Due[]> {
  // Servers that claim at the same time do not wait for each other, where rows can be locked.
  return database.all<Due>(sql`
    select m.id, m.subject, m.step, case when exists (
        select 1 from webhook_messages p
        where p.subject = m.subject and p.endpoint_id = m.endpoint_id and p.status = 'pending' and p.id < m.id
          and p.step < ${heldAttempts} and ${inHand('p')}) then 1 else 0 end as is_held
    from webhook_messages m where m.endpoint_id = ${endpointId} and m.due_at <= ${now.toISOString()}
    order by m.due_at, m.id limit ${wanted * lookedAtEach} ${database.dialect.lockedRows('m')}`)
}

async function take(
  database: Transaction,
  { until, lease }: Claiming,
  ids: readonly string[],
): Promise<Claimed[]> {
  const taken = await database.all<Claimed>(sql`
    update webhook_messages set due_at = ${until}, lease = ${lease} where id in (${join(ids)})
    returning id, type, subject, body, step, attempt_count`)
  return taken.toSorted((one, other) => ids.indexOf(one.id) - ids.indexOf(other.id))
}
