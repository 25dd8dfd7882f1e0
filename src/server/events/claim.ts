import sql, { join } from 'sql-template-tag'
import type { Row, Transaction } from '../database/database.ts'
import { heldAttempts } from './retry-schedule.ts'
import { isInSubjectIndex, parkedLease } from './subject-index.ts'

export interface Claimed extends Row {
  readonly id: string
  readonly type: string
  readonly subject: string
  readonly body: string
  /** Failed attempts since it was queued, or resent. */
  readonly step: number
  readonly attempt_count: number
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

/**
 * Returns the ids of the messages that can be sent, up to the wanted number, and of earlier messages that
 * have to wait.
 */
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
