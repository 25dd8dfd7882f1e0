import type { IntegrationCheck } from '../../contract/integration.ts'
import type { Call } from '../http/handler.ts'
import { OutgoingError } from '../outgoing/outgoing.ts'
import { ProblemError } from '../problem/problem-error.ts'
import { accessTokenOf, type Integration, webhookSecretsOf } from './integration.ts'
import { probes, verdict } from './probes.ts'

type Check = IntegrationCheck['checks'][number]
type CheckCall = Pick<Call, 'sealing' | 'outgoing' | 'now'>

const timeoutMs = 10_000
const maximumBytes = 64 * 1024

/** Looks at everything that an integration needs, by asking the other system itself where that is possible. */
export async function checkConnection(integration: Integration, call: CheckCall): Promise<Check[]> {
  return [
    ...(await connectionChecks(integration, call)),
    secretCheck(integration, call),
    ...(integration.lmsKind === 'canvas' ? [accountCheck(integration)] : []),
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
  // Without a token this finds out no more than whether somebody answers.
  const request = token === undefined ? { ...probe.request, headers: {} } : probe.request
  try {
    const answer = await outgoing({ ...request, timeoutMs, maximumBytes })
    const { isAccepted, detail } = verdict(answer, probe)
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
      check('connection', 'failed', error.message),
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
    webhookSecretsOf(integration, sealing)
  } catch (error) {
    return check(name, 'failed', sealTrouble(error))
  }
  const rotation = old?.endsAt ? `; the one before is accepted until ${old.endsAt}` : ''
  return check(name, 'ok', `set on ${newest.setAt}${rotation}`)
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

function sealTrouble(error: unknown): string {
  if (error instanceof ProblemError) return error.message.replace(/\.$/, '')
  throw error
}

function check(name: string, status: Check['status'], detail: string): Check {
  return { name, status, detail }
}
