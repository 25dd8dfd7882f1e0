import sql from 'sql-template-tag'
import { type JsonObject, jsonText } from '../../codec/json-text.ts'
import type { LmsKind } from '../../contract/constants.ts'
import type { DeliveryFault } from '../../lms/delivery.ts'
import type { Candidate, LmsEvent } from '../../lms/event.ts'
import { keyHintOf, learnerCandidatesOf } from '../../lms/read-event.ts'
import type { Database, Store, Transaction } from '../database/database.ts'
import type { RateLimits } from '../http/limits.ts'
import { tooMany } from '../problem-error.ts'
import {
  type Applying,
  applyEvent,
  isDone,
  mayNeedBody,
  noEffect,
  type Outcome,
  resolveIdentities,
} from './apply-event.ts'

/** An authentic delivery with its event, or why it has none. */
export interface Authentic {
  readonly kind: LmsKind
  readonly key: string
  readonly body: JsonObject
  readonly meaning: LmsEvent | DeliveryFault
}

export interface StoredDelivery {
  readonly id: string
  readonly outcome: Outcome | undefined
}

/** `bytes` are the stored ones of the payload. */
interface StoredPayload extends StoredDelivery {
  readonly bytes: number
}

/** Another transaction has stored the same delivery: this one is rolled back. */
class StoredMeanwhile extends Error {}

/**
 * Stores and applies a delivery once, in one transaction, also with concurrent duplicates. Recognises an
 * earlier duplicate without a write. Throws 429 above the integration's daily limit; then events that need no
 * later match are stored without their payload.
 *
 * @param applyingIn returns the context to apply the event in a transaction
 */
export async function storeDelivery(
  database: Store,
  delivery: Authentic,
  { inbox }: Pick<RateLimits, 'inbox'>,
  applyingIn: (transaction: Transaction) => Applying,
): Promise<StoredDelivery> {
  const { kind } = delivery
  async function attempt(): Promise<StoredDelivery> {
    const before = await findStored(database, delivery)
    if (before) return before
    const { allowed, resetSeconds } = inbox.deliveries.take(kind)
    if (!allowed) throw tooMany(`deliveries of ${kind}`, resetSeconds)
    const { bytes, ...stored } = await database.write((transaction) =>
      storeIn(transaction, delivery, inbox, applyingIn(transaction)),
    )
    // Outside the transaction, which may be retried.
    inbox.bytes.take(kind, bytes)
    return stored
  }
  try {
    return await attempt()
  } catch (error) {
    if (error instanceof StoredMeanwhile) return attempt()
    throw error
  }
}

async function findStored(database: Store, { kind, key }: Authentic): Promise<StoredDelivery | undefined> {
  const before = await database.one<{ id: string }>(
    sql`select id from webhook_deliveries where lms_kind = ${kind} and delivery_key = ${key}`,
  )
  return before && { id: before.id, outcome: undefined }
}

async function storeIn(
  database: Transaction,
  { kind, key, body, meaning }: Authentic,
  inbox: RateLimits['inbox'],
  applying: Applying,
): Promise<StoredPayload> {
  const { deliveryId: id, call } = applying
  const outcome = await outcomeOf(applying, meaning)
  const payload = mayNeedBody(outcome) ? jsonText(body) : null
  const { allowed, resetSeconds } = inbox.bytes.peek(kind, Buffer.byteLength(payload ?? ''))
  if (!allowed && !isDone(outcome)) throw tooMany(`waiting deliveries of ${kind}`, resetSeconds)
  const storedPayload = allowed ? payload : null
  const event = meaning instanceof Error ? undefined : meaning
  const { userId, hint } = await deliverySubjectOf(database, kind, body, outcome)
  const touched = await database.run(sql`
    insert into webhook_deliveries (id, lms_kind, delivery_key, event, status, reason, detail, missing, user_id, course_id,
                                    item_id, grade_id, learner_hint, body, replays, received_at, processed_at)
    values (${id}, ${kind}, ${key}, ${event?.name ?? ''}, ${outcome.status}, ${outcome.reason}, ${outcome.detail},
            ${JSON.stringify(outcome.missing)}, ${userId}, ${outcome.courseId}, ${itemOf(event)},
            ${outcome.grade?.id ?? null}, ${hint}, ${storedPayload}, 0, ${call.now}, ${call.now})
    on conflict (lms_kind, delivery_key) do nothing`)
  if (touched === 0) throw new StoredMeanwhile()
  return { id, outcome, bytes: Buffer.byteLength(storedPayload ?? '') }
}

export async function outcomeOf(applying: Applying, meaning: LmsEvent | DeliveryFault): Promise<Outcome> {
  if (!(meaning instanceof Error)) return applyEvent(applying, meaning)
  return { ...noEffect, status: 'failed', reason: meaning.code, detail: meaning.message }
}

export function itemOf(event: LmsEvent | undefined): string | null {
  return event?.type === 'grade' ? event.itemId : null
}

/** Identifies the user of a stored delivery, so that erasing the user finds it. */
interface DeliverySubject {
  readonly userId: string | null
  /** The external name of a learner who is unknown here. */
  readonly hint: string | null
}

/**
 * Returns the user of a delivery, even of an ignored one, because its stored payload may contain personal
 * data.
 */
export async function deliverySubjectOf(
  database: Database,
  kind: LmsKind,
  body: JsonObject,
  outcome: Outcome,
): Promise<DeliverySubject> {
  const { userId, status } = outcome
  if (userId !== null || !mayNeedBody(outcome)) return { userId, hint: null }
  const learner = learnerCandidatesOf(kind, body)
  // An unmatched learner is known not to exist here.
  const isLookedFor = status !== 'unmatched' && learner.length > 0
  const found = isLookedFor
    ? await resolveIdentities(database, kind, { course: [], user: learner })
    : undefined
  return found?.user ? { userId: found.user, hint: null } : { userId: null, hint: hintOf(kind, learner) }
}

function hintOf(kind: LmsKind, learner: readonly Candidate[]): string | null {
  const by = (wanted: Candidate['by']) => learner.find((candidate) => candidate.by === wanted)?.value
  const [email, external, reference, key] = [by('email'), by('externalId'), by('reference'), by('key')]
  if (email !== undefined) return `email:${email.toLowerCase()}`
  if (external !== undefined) return `ext:${external}`
  if (reference !== undefined) return reference.startsWith('email:') ? reference.toLowerCase() : reference
  return key === undefined ? null : keyHintOf(kind, key)
}
