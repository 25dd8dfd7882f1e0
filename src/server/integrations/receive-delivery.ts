import { timeText } from '../../codec/time-text.ts'
import type { HttpHeaders } from '../../contract/http.ts'
import { canvasKeysUrl, type FetchKeySet, fixedKeys, publishedKeys } from '../../lms/canvas-signature.ts'
import { DeliveryFault, type SigningKeys, type Trust } from '../../lms/delivery.ts'
import { kinds } from '../../lms/kinds.ts'
import { verify } from '../../lms/verify.ts'
import { countRequest } from '../http/limits.ts'
import { recordRefusal } from '../http/record-refusal.ts'
import type { Reply } from '../http/reply.ts'
import { readBytes, requireType } from '../http/request-body.ts'
import { type AppOptions, originOf } from '../http/request-context.ts'
import type { Visit } from '../http/web-route.ts'
import { notFound, ProblemError, tooMany, unavailable } from '../problem-error.ts'
import { readEventOrFault } from './apply-event.ts'
import { type Integration, integrationOf, requireKind, webhookSecretsAt } from './integration.ts'
import { type Authentic, type StoredDelivery, storeDelivery } from './store-delivery.ts'

const maxBytes = 256 * 1024
const keysRetrySeconds = 60

/**
 * Receives a delivery: checks size, kind, media type, proof and time, reads the event, then stores and
 * applies it in one transaction. Throws ProblemError.
 */
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
    const { allowed, resetSeconds } = limits.failures.take(request.address)
    const details = { operation: `POST ${request.path}`, code: error.code }
    const refused = { action: 'request.refused', subjectId: null, details } as const
    if (allowed) await recordRefusal(visit.academy, limits, request, refused)
    throw allowed ? error : tooMany('failed credentials', resetSeconds)
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

/** Retry-After for a delivery that cannot be verified now. */
const retrySeconds = 60

/** By URL. */
const keySetsByApp = new WeakMap<AppOptions, (url: string) => SigningKeys>()

/**
 * Returns the secrets and keys that an integration trusts at a time; undefined if it cannot receive. Throws
 * 503 if its secrets cannot be decrypted.
 */
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
