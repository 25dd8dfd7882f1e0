import sql from 'sql-template-tag'
import type { JsonObject } from '../../../codec/json-object.ts'
import { jsonText } from '../../../codec/json-text.ts'
import type { LmsKind } from '../../../contract/integration-choices.ts'
import type { DeliveryFault } from '../../../webhooks/delivery-fault.ts'
import type { LmsEvent } from '../../../webhooks/event.ts'
import type { Store, Transaction } from '../../database/database.ts'
import type { RateLimits } from '../../http/request-context.ts'
import { tooMany } from '../../problem/problem-error.ts'
import { type Applying, applyEvent } from './apply.ts'
import { isDone, keepsBody, nothing, type Outcome } from './outcome.ts'
import { whomOf } from './whom.ts'

/** An authentic delivery with what it means; where it means nothing, why. */
export interface Authentic {
  readonly kind: LmsKind
  readonly key: string
  readonly body: JsonObject
  readonly meaning: LmsEvent | DeliveryFault
}

/** What became of a delivery; undefined where the same one was there before. */
export interface Taken {
  readonly id: string
  readonly outcome: Outcome | undefined
}

/** A delivery that was kept, and how many bytes of its payload. */
interface Kept extends Taken {
  readonly bytes: number
}

/** Another transaction has taken the same delivery meanwhile: this one is undone. */
class TakenMeanwhile extends Error {}

/**
 * Takes a delivery once, whoever else takes it at the same time: that it is there and what it does are kept together, or
 * neither. One that was there before is known without a write. Throws 429 where the integration has sent as much as is
 * kept in a day; then what need not wait is kept without its payload.
 *
 * @param applyingIn what it is done with in a transaction
 */
export async function take(
  database: Store,
  delivery: Authentic,
  { inbox }: Pick<RateLimits, 'inbox'>,
  applyingIn: (transaction: Transaction) => Applying,
): Promise<Taken> {
  const { kind } = delivery
  async function attempt(): Promise<Taken> {
    const before = await takenBefore(database, delivery)
    if (before) return before
    const { allowed, resetSeconds } = inbox.deliveries.take(kind)
    if (!allowed) throw tooMany(`deliveries of ${kind}`, resetSeconds)
    const { bytes, ...taken } = await database.write((transaction) =>
      takeIn(transaction, delivery, inbox, applyingIn(transaction)),
    )
    // Not within the transaction, which may be tried again.
    inbox.bytes.take(kind, bytes)
    return taken
  }
  try {
    return await attempt()
  } catch (error) {
    if (error instanceof TakenMeanwhile) return attempt()
    throw error
  }
}

async function takenBefore(database: Store, { kind, key }: Authentic): Promise<Taken | undefined> {
  const before = await database.one<{ id: string }>(
    sql`select id from webhook_deliveries where lms_kind = ${kind} and delivery_key = ${key}`,
  )
  return before && { id: before.id, outcome: undefined }
}

async function takeIn(
  database: Transaction,
  { kind, key, body, meaning }: Authentic,
  inbox: RateLimits['inbox'],
  applying: Applying,
): Promise<Kept> {
  const { deliveryId: id, call } = applying
  const outcome = await outcomeOf(applying, meaning)
  const payload = keepsBody(outcome) ? jsonText(body) : null
  const { allowed, resetSeconds } = inbox.bytes.peek(kind, Buffer.byteLength(payload ?? ''))
  if (!allowed && !isDone(outcome)) throw tooMany(`waiting deliveries of ${kind}`, resetSeconds)
  const kept = allowed ? payload : null
  const event = meaning instanceof Error ? undefined : meaning
  const { userId, hint } = await whomOf(database, kind, body, outcome)
  const touched = await database.run(sql`
    insert into webhook_deliveries (id, lms_kind, delivery_key, event, status, reason, detail, missing, user_id, course_id,
                                    item_id, grade_id, learner_hint, body, replays, received_at, processed_at)
    values (${id}, ${kind}, ${key}, ${event?.name ?? ''}, ${outcome.status}, ${outcome.reason}, ${outcome.detail},
            ${JSON.stringify(outcome.missing)}, ${userId}, ${outcome.courseId}, ${itemOf(event)},
            ${outcome.grade?.id ?? null}, ${hint}, ${kept}, 0, ${call.now}, ${call.now})
    on conflict (lms_kind, delivery_key) do nothing`)
  if (touched === 0) throw new TakenMeanwhile()
  return { id, outcome, bytes: Buffer.byteLength(kept ?? '') }
}

/** What a delivery does, by what it means. */
export async function outcomeOf(applying: Applying, meaning: LmsEvent | DeliveryFault): Promise<Outcome> {
  if (!(meaning instanceof Error)) return applyEvent(applying, meaning)
  return { ...nothing, status: 'failed', reason: meaning.code, detail: meaning.message }
}

/** The item that an event is about. */
export function itemOf(event: LmsEvent | undefined): string | null {
  return event?.type === 'grade' ? event.itemId : null
}
