import sql from 'sql-template-tag'
import type { IntegrationCheck } from '../../contract/integrations.ts'
import type { Database } from '../database/database.ts'
import type { Call } from '../http/handler.ts'
import { OutgoingError, type OutgoingTrouble } from '../outgoing/outgoing.ts'
import { ProblemError } from '../problem-error.ts'
import { accessTokenOf, type Integration, webhookSecretsAt } from './integration.ts'
import { probes, readProbeResponse } from './probes.ts'

type Check = IntegrationCheck['checks'][number]
type CheckCall = Pick<Call, 'database' | 'sealing' | 'outgoing' | 'now'>

const timeoutMs = 10_000
const maximumBytes = 64 * 1024
/** Number of recent deliveries of all systems to search for the last one of this system. */
const maxDeliveriesSearched = 1000

/** Hints for systems that the server cannot reach. */
const hintByTrouble: Partial<Record<OutgoingTrouble, string>> = {
  forbidden_address: ': to allow it, start the server with --webhook-allow',
}

/** Checks everything that an integration needs, if possible with a request to the other system. */
export async function checkConnection(integration: Integration, call: CheckCall): Promise<Check[]> {
  return [
    ...(await connectionChecks(integration, call)),
    secretCheck(integration, call),
    ...(integration.lmsKind === 'canvas' ? [accountCheck(integration)] : []),
    await deliveryCheck(integration, call.database),
  ]
}

async function connectionChecks(
  integration: Integration,
  { sealing, outgoing }: CheckCall,
): Promise<Check[]> {
  const { lmsKind, baseUrl } = integration
  const probeOf = probes[lmsKind]
  if (!probeOf) {
    return [check('connection', 'skipped', 'Standard Webhooks has no API to ask; only the secret is checked')]
  }
  if (baseUrl === null) {
    return [
      check('connection', 'skipped', 'no base URL is set'),
      check('accessToken', 'skipped', 'no base URL is set'),
    ]
  }
  let token: string | undefined
  try {
    token = accessTokenOf(integration, sealing)
  } catch (error) {
    return [
      check('connection', 'skipped', 'the access token cannot be read'),
      check('accessToken', 'failed', sealTrouble(error)),
    ]
  }
  const probe = probeOf(baseUrl, token ?? '')
  // Without a token, this only checks whether the system answers.
  const request = token === undefined ? { ...probe.request, headers: {} } : probe.request
  try {
    const answer = await outgoing({ ...request, timeoutMs, maximumBytes })
    const { isAccepted, detail } = readProbeResponse(answer, probe)
    const { host } = new URL(request.url)
    return [
      check('connection', 'ok', `${host} answers`),
      token === undefined
        ? check('accessToken', 'skipped', 'no access token is set')
        : check('accessToken', isAccepted ? 'ok' : 'failed', detail),
    ]
  } catch (error) {
    if (!(error instanceof OutgoingError)) throw error
    return [
      check('connection', 'failed', error.message + (hintByTrouble[error.trouble] ?? '')),
      check('accessToken', 'skipped', 'the system cannot be reached'),
    ]
  }
}

function secretCheck(integration: Integration, { sealing, now }: CheckCall): Check {
  const name = 'webhookSecret'
  const { lmsKind } = integration
  const counting = integration.webhookSecrets.filter(({ endsAt }) => endsAt === null || endsAt > now)
  const [newest, old] = counting
  if (!newest) {
    return lmsKind === 'canvas'
      ? check(name, 'skipped', 'no webhook secret is set: only events signed by Canvas are accepted')
      : check(name, 'failed', 'no webhook secret is set: every event is refused')
  }
  try {
    webhookSecretsAt(integration, sealing, now)
  } catch (error) {
    return check(name, 'failed', sealTrouble(error))
  }
  const rotation = old?.endsAt ? `; the one before is accepted until ${old.endsAt}` : ''
  const end = newest.last4 === null ? '' : `, ends in ${newest.last4}`
  return check(name, 'ok', `set on ${newest.setAt}${end}${rotation}`)
}

function accountCheck({ rootAccountUuid, jwks, jwksUrl }: Integration): Check {
  if (rootAccountUuid === null) {
    return check(
      'rootAccountUuid',
      'failed',
      'no root account UUID is set: events signed by Canvas are refused, as its keys are those of all its customers',
    )
  }
  const keys = jwks === null ? (jwksUrl ?? 'the keys that Canvas publishes') : 'the keys that are stored here'
  return check('rootAccountUuid', 'ok', `events of ${rootAccountUuid} are verified with ${keys}`)
}

/** Checks the last delivery. A connection without any delivery yet is not a fault. */
async function deliveryCheck({ lmsKind }: Integration, database: Database): Promise<Check> {
  const last = await database.one<{ received_at: string; event: string; status: string }>(sql`
    select received_at, event, status from (
      select received_at, id, event, status, lms_kind from webhook_deliveries
      order by received_at desc, id desc limit ${maxDeliveriesSearched}) recent
    where lms_kind = ${lmsKind} order by received_at desc, id desc limit 1`)
  if (!last) return check('lastDelivery', 'skipped', 'nothing has been received lately')
  return check('lastDelivery', 'ok', `${last.event} on ${last.received_at}: ${last.status}`)
}

function sealTrouble(error: unknown): string {
  if (error instanceof ProblemError) return error.message.replace(/\.$/, '')
  throw error
}

function check(name: string, status: Check['status'], detail: string): Check {
  return { name, status, detail }
}
