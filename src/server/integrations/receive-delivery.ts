import sql from 'sql-template-tag'
import { type JsonObject, jsonText } from '../../codec/json-text.ts'
import { timeText } from '../../codec/time-text.ts'
import type { LmsKind } from '../../contract/constants.ts'
import type { HttpHeaders } from '../../contract/http.ts'
import { canvasKeysUrl, type FetchKeySet, fixedKeys, publishedKeys } from '../../lms/canvas-signature.ts'
import { DeliveryFault, type SigningKeys, type Trust } from '../../lms/delivery.ts'
import type { Candidate, LmsEvent } from '../../lms/event.ts'
import { keyHintOf, kinds, learnerCandidatesOf } from '../../lms/kinds.ts'
import { verify } from '../../lms/verify.ts'
import type { Database, Store, Transaction } from '../database/database.ts'
import { countFailure, countRequest, type RateLimits } from '../http/limits.ts'
import { recordRefusedRequest } from '../http/record-refusal.ts'
import type { Reply } from '../http/reply.ts'
import { readBytes, requireType } from '../http/request-body.ts'
import { type AppOptions, originOf } from '../http/request-context.ts'
import type { Visit } from '../http/web-route.ts'
import { notFound, ProblemError, tooMany, unavailable } from '../problem-error.ts'
import {
  type Applying,
  applyEvent,
  isDone,
  mayNeedBody,
  noEffect,
  type Outcome,
  readEventOrFault,
  resolveIdentities,
} from './apply-event.ts'
import { type Integration, integrationOf, requireKind, webhookSecretsAt } from './integration.ts'

const maxBytes = 256 * 1024
const keysRetrySeconds = 60

/** Checks size, kind, media type, proof and time; stores and applies it in one transaction. Throws ProblemError. */
export async function receive(visit: Visit): Promise<Reply> {
  const { delivery, integration } = await authenticateDelivery(visit)
  const { academy, request, limits } = visit
  const stored = await storeDelivery(academy.database, delivery, limits, (database) => ({
    call: {
      database,
      now: timeText(request.now),
      newId: academy.newId,
      principal: { userId: null, credential: `webhook:${delivery.kind}`, role: 'admin', sees: 'all' },
      origin: originOf(request),
      lenient: false,
    },
    integration,
    deliveryId: academy.newId('whd'),
  }))
  if (delivery.meaning instanceof DeliveryFault) throw problemOf(delivery.meaning)
  return replyTo(stored)
}

/** Failures are counted by network; authentic deliveries are not. */
async function authenticateDelivery(visit: Visit) {
  const { limits, request } = visit
  try {
    return await verifyDelivery(visit)
  } catch (error) {
    if (!(error instanceof ProblemError) || !failureCodes.includes(error.code)) {
      countRequest(limits, { kind: 'anonymous', name: request.address })
      throw error
    }
    countFailure(limits, request.address)
    await recordRefusedRequest(visit.academy, limits, request, `POST ${request.path}`, error.code, undefined)
    throw error
  }
}

const failureCodes: readonly string[] = ['invalid_signature', 'timestamp_out_of_range']

async function verifyDelivery(visit: Visit): Promise<{ delivery: Authentic; integration: Integration }> {
  const { academy, database, request, query, params } = visit
  const { raw, now } = request
  const rawBody = await readBytes(raw, maxBytes)
  const kind = requireKind(params['lmsKind'] ?? '')
  const integration = await integrationOf(database, kind)
  const trust = integration && trustOf(academy, integration, now)
  if (!integration || !trust) throw notFound('integration', kind)
  requireType(raw, kinds[kind].mediaTypes)
  try {
    const { key, body } = await verify(kind, { headers: raw.headers, query, rawBody }, trust)
    return { delivery: { kind, key, body, meaning: readEventOrFault(kind, body, integration) }, integration }
  } catch (error) {
    throw error instanceof DeliveryFault ? problemOf(error) : error
  }
}

function problemOf(fault: DeliveryFault): ProblemError {
  const { code, message, cause } = fault
  if (code === 'keys_unavailable') return unavailable(message, keysRetrySeconds, cause)
  const headers = code === 'malformed_payload' ? {} : { 'www-authenticate': challenge }
  return new ProblemError(code, message, { headers, cause })
}

/** A 401 requires a challenge (RFC 9110 §15.5.2); Basic is the only registered scheme of these systems. */
const challenge = 'Basic realm="webhooks"'

function replyTo({ id: deliveryId, outcome }: StoredDelivery): Reply {
  if (!outcome) return json(200, { status: 'duplicate', deliveryId })
  const { status, reason, missing, grade, progress } = outcome
  switch (status) {
    case 'applied':
      return json(200, { status, deliveryId, grade, progress })
    case 'stale':
      return json(200, { status, deliveryId })
    case 'ignored':
      return json(200, { status, deliveryId, reason })
    case 'unmatched':
      return json(202, { status, deliveryId, missing })
    case 'failed':
      return json(202, { status, deliveryId, reason })
  }
}

function json(status: number, body: object): Reply {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

const keySetLimits = { timeoutMs: 5000, maximumBytes: 256 * 1024 }
const keySetHeaders: HttpHeaders = { accept: 'application/json' }

const retrySeconds = 60

const keySetsByApp = new WeakMap<AppOptions, (url: string) => SigningKeys>()

/** Undefined if it cannot receive. Throws 503 if its secrets cannot be decrypted. */
function trustOf(app: AppOptions, integration: Integration, now: Date): Trust | undefined {
  const secrets = secretsOf(app, integration, now)
  const { lmsKind, rootAccountUuid } = integration
  const keys = lmsKind === 'canvas' && rootAccountUuid !== null ? keysOf(app, integration) : null
  if (secrets.length === 0 && keys === null) return undefined
  return { secrets, rootAccountUuid, keys, now: now.getTime() }
}

/**
 * Returns the webhook secrets. Only the log says why they cannot be decrypted, because anyone can send
 * requests here.
 */
function secretsOf(app: AppOptions, integration: Integration, now: Date): string[] {
  try {
    return webhookSecretsAt(integration, app.sealing, now.toISOString())
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    throw unavailable('Deliveries cannot be verified at the moment.', retrySeconds, error)
  }
}

function keysOf(app: AppOptions, { jwks, jwksUrl }: Integration): SigningKeys {
  if (jwks !== null) return fixedKeys(jwks)
  let keys = keySetsByApp.get(app)
  if (!keys) {
    keys = publishedKeys(createKeySetFetcher(app), () => app.now().getTime())
    keySetsByApp.set(app, keys)
  }
  return keys(jwksUrl ?? canvasKeysUrl)
}

function createKeySetFetcher({ outgoing }: AppOptions): FetchKeySet {
  return async (url) => {
    const { status, body, isCut } = await outgoing({
      method: 'GET',
      url,
      headers: keySetHeaders,
      ...keySetLimits,
    })
    if (status !== 200 || isCut)
      throw new TypeError(`${url} answered ${status}${isCut ? ', more than is read' : ''}`)
    return body.toString('utf8')
  }
}

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

interface DeliverySubject {
  readonly userId: string | null
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
