import { bodyText, readBytes } from '../../client/reply.ts'
import { assertConfidential, isLoopback, normaliseBaseUrl } from '../../client/request.ts'
import { exchangeWithin } from '../../client/timeout.ts'
import { shellWord } from '../../codec/display-text.ts'
import { isJsonObject, parseJsonOrNull } from '../../codec/json-text.ts'
import type { LmsKind } from '../../contract/constants.ts'
import type { Transport } from '../../contract/http.ts'
import type { SignedDelivery } from '../../lms/delivery.ts'
import type { Context } from '../command/context.ts'
import { CommandError, type ExitName } from '../terminal/errors.ts'
import { writeDebug } from '../terminal/io.ts'
import { enrolStep, mappingSteps, thenReplay } from './next-steps.ts'
import { type Simulation, secretVariable } from './simulation.ts'

const maxResponseBytes = 256 * 1024
const idleTimeoutMs = 30_000

/** Throws network errors. */
export async function sendDelivery(
  { io, settings }: Pick<Context, 'io' | 'settings'>,
  destination: Destination,
  delivery: SignedDelivery,
): Promise<DeliveryResult> {
  const { url } = destination
  const transport = await destination.transport()
  const started = io.now()
  const { headers, query, body } = delivery
  const request = {
    method: 'POST',
    url: withQuery(url, query),
    headers: { accept: 'application/json', ...headers },
    body,
    signal: io.signal,
  }
  const reply = await exchangeWithin(transport, request, { timeoutMs: settings.timeout.value, idleTimeoutMs })
  const bytes = await readBytes(reply, maxResponseBytes)
  const durationMs = io.now() - started
  if (settings.debug.value) await writeDebug(io, `POST ${url} → ${reply.status} (${durationMs} ms)`)
  const text = bytes === null ? '' : bodyText(reply, bytes)
  return { delivery: 1, status: reply.status, ...deliveryResultOf(reply.status, text), durationMs }
}

export interface DeliveryResult {
  /** Number of the delivery, from 1. */
  readonly delivery: number
  readonly status: number
  readonly outcome: string
  readonly deliveryId: string | null
  /** Reason: what is missing, why it was ignored, or the problem's code. */
  readonly reason: string | null
  readonly durationMs: number
}

/** Reads the response of a platform. Another platform may only have a status. */
function deliveryResultOf(
  status: number,
  text: string,
): Pick<DeliveryResult, 'outcome' | 'deliveryId' | 'reason'> {
  const body = parseJsonOrNull(text)
  const members = isJsonObject(body) ? body : {}
  const textAt = (name: string) => (typeof members[name] === 'string' ? members[name] : null)
  const missing = Array.isArray(members['missing']) ? `${members['missing'].join(' and ')} not found` : null
  if (status >= 200 && status < 300) {
    return {
      outcome: textAt('status') ?? 'accepted',
      deliveryId: textAt('deliveryId'),
      reason: missing ?? textAt('reason'),
    }
  }
  // Other statuses, such as 404 or 429, do not mean that the delivery was examined.
  const outcome = status === 401 || status === 403 ? 'refused' : 'failed'
  return { outcome, deliveryId: null, reason: textAt('code') ?? textAt('detail') }
}

export interface Destination {
  readonly url: string
  /** False for an academy in this process, and for a server on this machine. */
  readonly isElsewhere: boolean
  readonly transport: () => Promise<Transport>
}

/**
 * Returns the webhook URL at `--to`, which may be a base URL or the whole URL, or that of the profile's
 * platform or academy. Throws RequestError on an invalid URL, and on plain http to another machine.
 *
 * @param served base URL of a local academy (default its server's)
 */
export function destinationOf(
  { session, settings }: Pick<Context, 'session' | 'settings'>,
  kind: LmsKind,
  to: string | undefined,
  served = 'http://127.0.0.1:4700',
): Destination {
  const path = `/webhooks/${kind}/grades`
  const target = to === undefined ? session.target() : null
  if (target?.kind === 'local') {
    const url = served + path
    return { url, isElsewhere: false, transport: async () => (await session.open()).transport }
  }
  const base = normaliseBaseUrl(target?.url ?? to ?? '')
  const url = base.endsWith(path) ? base : base + path
  if (!settings.insecureHttp.value) assertConfidential(url)
  return { url, isElsewhere: !isLoopback(url), transport: async () => session.network }
}

/** Formats a delivery as a curl command that takes any secret in it from the environment. */
export function curlLine(
  url: string,
  { headers, query, body }: SignedDelivery,
  secret: string | null,
): string {
  const words = [
    ...['curl', '-X', 'POST', urlWord(url, query, secret)],
    ...Object.entries(headers).flatMap(([name, value]) => ['-H', shellWord(`${name}: ${value}`)]),
    ...[
      '--data-binary',
      secret === null ? shellWord(body) : withoutSecret(body, JSON.stringify(secret).slice(1, -1)),
    ],
  ]
  return words.join(' ')
}

function urlWord(url: string, query: SignedDelivery['query'], secret: string | null): string {
  const whole = withQuery(url, query)
  if (secret === null) return shellWord(whole)
  return withoutSecret(whole, new URLSearchParams([['', secret]]).toString().slice(1))
}

function withQuery(url: string, query: SignedDelivery['query']): string {
  const search = new URLSearchParams(query).toString()
  return search === '' ? url : `${url}?${search}`
}

/** Quotes a shell word in which a variable replaces the secret. */
function withoutSecret(text: string, written: string): string {
  return text
    .split(written)
    .map((part) => (part === '' ? '' : shellWord(part)))
    .join(`"$${secretVariable}"`)
}

/** Says an unexpected outcome, and what to do. */
export function unexpectedOutcome(
  simulation: Simulation,
  result: DeliveryResult,
  expected: string,
  exits: Readonly<Record<number, ExitName>>,
): CommandError {
  const { outcome, reason, status } = result
  const exit = status < 400 ? 'failure' : (exits[status] ?? 'failure')
  const hint = hintFor(simulation, result)
  return new CommandError(
    'unexpected_outcome',
    exit,
    `Unexpected outcome: ${outcome} (${status})${reason === null ? '' : `: ${reason}`}`,
    { why: [`Expected ${expected}`], ...(hint !== null && { hint }) },
  )
}

function hintFor(
  simulation: Simulation,
  { outcome, status, reason, deliveryId }: DeliveryResult,
): string | null {
  const { kind, secret } = simulation
  if (outcome === 'unmatched') return thenReplay(matchingSteps(simulation, reason ?? ''), deliveryId)
  if (outcome === 'stale') return 'Something newer was recorded before: send a later time with --at'
  if (status === 401) {
    return typeof secret === 'string'
      ? `Check the webhook secret: learnctl integrations test ${kind}`
      : `Check that the integration has this account and the public keys (--root-account-uuid, --jwks): learnctl integrations test ${kind}`
  }
  if (status === 429)
    return 'Wait for the time in Retry-After: there were too many refused deliveries in a minute, or too many deliveries in a day'
  if (status === 404) return `Set up the integration: learnctl integrations set ${kind}`
  return null
}

function matchingSteps({ kind, facts }: Simulation, reason: string): string {
  // The learner and the course are known, but there is no enrolment.
  if (reason.startsWith('enrollment')) return enrolStep
  const missing = [
    ...(reason.includes('course') ? [['course', facts.course] as const] : []),
    ...(reason.includes('learner') ? [['user', facts.user] as const] : []),
  ]
  const named = missing.filter(([, { by }]) => by !== 'id').map(([noun]) => `--${noun}`)
  const unmapped = missing.flatMap(([noun, { by, value }]) => (by === 'id' ? [[noun, value] as const] : []))
  const checks = named.length > 0 ? [`check ${named.join(' and ')}`] : []
  const maps = checks.length > 0 && unmapped.length === 0 ? [] : [mappingSteps(kind, unmapped)]
  return [...checks, ...maps].join(', ')
}
