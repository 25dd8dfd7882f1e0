import { randomUUID } from 'node:crypto'
import { ApiError } from '../../client/errors.ts'
import { bodyText, readBytes } from '../../client/reply.ts'
import { assertConfidential, isLoopback, normaliseBaseUrl } from '../../client/request.ts'
import { exchangeWithin } from '../../client/timeout.ts'
import { shellWord } from '../../codec/display-text.ts'
import { isJsonObject, type JsonObject, jsonText, parseJsonOrNull } from '../../codec/json-text.ts'
import type { LmsKind } from '../../contract/constants.ts'
import type { Transport } from '../../contract/http.ts'
import { canvasEvents } from '../../lms/canvas.ts'
import type { SignedDelivery, SigningMaterial } from '../../lms/delivery.ts'
import type {
  SimulatedEvent,
  SimulatedEvents,
  SimulatedFact,
  SimulatedFacts,
  SimulatedName,
} from '../../lms/event.ts'
import { kinds } from '../../lms/kinds.ts'
import { moodleEvents } from '../../lms/moodle.ts'
import { openedxEvents } from '../../lms/openedx.ts'
import { signStandard, standardEvents } from '../../lms/standard.ts'
import { thinkificEvents } from '../../lms/thinkific.ts'
import { sign } from '../../lms/verify.ts'
import { valueAt } from '../../tables/column.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import type { FlagValues } from '../command/flag.ts'
import { readSecret, webhookSecret } from '../command/secret-input.ts'
import { CommandError, type ExitName, UsageError } from '../terminal/errors.ts'
import { writeDebug } from '../terminal/io.ts'
import { readFileText } from '../terminal/text-input.ts'
import { enrolStep, mappingSteps, thenReplay } from './next-steps.ts'

const maxResponseBytes = 256 * 1024
const idleTimeoutMs = 30_000

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

interface DeliveryResult {
  readonly delivery: number
  readonly status: number
  readonly outcome: string
  readonly deliveryId: string | null
  readonly reason: string | null
  readonly durationMs: number
}

/** Reads the response of a platform. Another platform may only have a status. */
function deliveryResultOf(status: number, text: string) {
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

interface Destination {
  readonly url: string
  readonly isElsewhere: boolean
  readonly transport: () => Promise<Transport>
}

/**
 * `--to` may be a base URL or the whole URL. Throws RequestError, also on plain http to another machine. `served` is the
 * base URL of a local academy (default its server's).
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

/** Quotes a word in which a variable replaces the secret. */
function withoutSecret(text: string, written: string): string {
  return text
    .split(written)
    .map((part) => (part === '' ? '' : shellWord(part)))
    .join(`"$${secretVariable}"`)
}

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

interface Simulation {
  readonly kind: LmsKind
  readonly event: SimulatedEvent
  readonly facts: SimulatedFacts
  readonly secret: SigningMaterial['secret']
}

export async function simulatedDelivery(
  { kind, event, facts, secret }: Simulation,
  now: number,
): Promise<SignedDelivery> {
  const payload = event.payload(facts)
  const sending = { now, id: `msg_${facts.serial.replaceAll('-', '')}` }
  // Canvas signs with a key; without one, its events are signed by Standard Webhooks.
  const signed =
    kind === 'canvas' && typeof secret === 'string'
      ? signStandard(jsonText(payload), secret, sending)
      : await sign(kind, payload, { secret, ...sending })
  return { ...signed, headers: { ...event.headers, ...signed.headers } }
}

const simulatedEvents: Readonly<Record<LmsKind, SimulatedEvents>> = {
  canvas: canvasEvents,
  moodle: moodleEvents,
  openedx: openedxEvents,
  thinkific: thinkificEvents,
  classroom: standardEvents,
  oneroster: standardEvents,
  standard: standardEvents,
}

export async function simulationOf(
  context: Context,
  kind: LmsKind,
  { arguments: { event: name = '' }, flags }: Given,
): Promise<Simulation> {
  const events = simulatedEvents[kind]
  const event = Object.hasOwn(events, name) ? events[name] : undefined
  if (event === undefined) {
    const valid = Object.keys(events)
    throw new UsageError(`${kind} has no event ${JSON.stringify(name)}; use ${valid.join(', ')}`, {
      choice: { given: name, valid },
    })
  }
  const hasKey = flags['signing-key'] !== undefined
  if (hasKey && kind !== 'canvas') {
    throw new UsageError(`--signing-key is for canvas: ${kind} signs with the webhook secret`)
  }
  const facts = factsOf(kind, name, event, flags, context.io.now())
  const account = hasKey ? await canvasAccount(context, flags['to']) : undefined
  return { kind, event, facts: { ...facts, account }, secret: await signingMaterial(context, flags) }
}

const flagOf: Readonly<Record<SimulatedFact, string>> = {
  item: 'item',
  label: 'label',
  score: 'score',
  maximum: 'maximum',
  percentage: 'completion',
  published: 'unpublished',
}

function factsOf(
  kind: LmsKind,
  name: string,
  event: SimulatedEvent,
  flags: FlagValues,
  now: number,
): Omit<SimulatedFacts, 'account'> {
  const { title } = kinds[kind]
  for (const [fact, flag] of Object.entries(flagOf)) {
    if (flags[flag] === undefined || event.takes.some((each) => each === fact)) continue
    throw new UsageError(`--${flag} is not supported: ${name} of ${title} does not have it`)
  }
  const missing = ['user', 'course'].filter((name) => (flags[name] ?? '') === '').map((name) => `--${name}`)
  if (missing.length > 0) {
    throw new UsageError(`${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} required`)
  }
  const maximum = readNumber(flags, 'maximum', 0.0001, 1_000_000) ?? 100
  const score = readNumber(flags, 'score', 0, 1_000_000) ?? Math.floor(maximum * 0.8)
  return {
    user: readName(String(flags['user'] ?? ''), 'user', event.namesUser, kind, name),
    course: readName(String(flags['course'] ?? ''), 'course', event.namesCourse, kind, name),
    item: readText(flags, 'item'),
    label: readText(flags, 'label'),
    score,
    maximum,
    percentage: readNumber(flags, 'completion', 0, 100) ?? 50,
    published: flags['unpublished'] !== true,
    at: new Date(readText(flags, 'at') ?? now),
    serial: randomUUID(),
  }
}

function readName(
  text: string,
  flag: 'user' | 'course',
  taken: SimulatedEvent['namesUser'],
  kind: LmsKind,
  event: string,
): SimulatedName {
  const name = nameIn(text)
  if (name.value !== '' && taken.includes(name.by)) return name
  const words = {
    id: `the id of the ${flag === 'user' ? 'learner' : 'course'} in ${kinds[kind].title}`,
    externalId: 'ext:<external id>',
    email: 'an e-mail address',
  }
  const valid = taken.map((by) => words[by]).join(' or ')
  throw new UsageError(`--${flag} must be ${valid} for ${event}, not ${JSON.stringify(text)}`, {
    ...(!taken.includes('externalId') && {
      hint: `Use that id, and map it: learnctl integrations map ${kind} ${flag} <id> ${shellWord(text)}`,
    }),
  })
}

function nameIn(text: string): SimulatedName {
  const [, form, value = ''] = /^(ext|email):(.*)$/s.exec(text) ?? []
  if (form !== undefined) return { by: form === 'ext' ? 'externalId' : 'email', value }
  return { by: text.includes('@') ? 'email' : 'id', value: text }
}

function readText(flags: FlagValues, name: string): string | undefined {
  const value = flags[name]
  return typeof value === 'string' ? value : undefined
}

function readNumber(flags: FlagValues, name: string, least: number, most: number): number | undefined {
  const value = flags[name]
  if (value === undefined) return undefined
  if (typeof value === 'number' && value >= least && value <= most) return value
  throw new UsageError(`--${name} must be from ${least} to ${most}, not ${value}`)
}

async function canvasAccount({ session, io }: Context, to: unknown): Promise<string> {
  if (to !== undefined) throw unknownAccount('The integration at --to cannot be asked for it')
  const { calls } = await import('../../contract/calls.ts')
  const caller = await session.caller()
  try {
    const { data } = await caller.call(calls.integrations.get, {
      params: { lmsKind: 'canvas' },
      signal: io.signal,
    })
    const account = valueAt(data, 'rootAccountUuid')
    if (typeof account === 'string') return account
  } catch (error) {
    if (error instanceof ApiError) throw unknownAccount(error.message.replace(/\.$/, ''))
    throw error
  }
  throw new UsageError('The canvas integration has no root account UUID', {
    why: ['A signed event is accepted only from the Canvas account of the integration'],
    hint: 'Set one: learnctl integrations set canvas --root-account-uuid <uuid>',
  })
}

function unknownAccount(why: string): UsageError {
  return new UsageError('--signing-key requires an integration that can be read', {
    why: ['A signed event is accepted only from the Canvas account of the integration', why],
    hint: 'Name the platform with --profile or --url',
  })
}

export const secretVariable = 'LEARNCTL_WEBHOOK_SECRET'

/**
 * Reads what signs the deliveries: the private key of `--signing-key`, else the webhook secret from standard
 * input, the environment or a prompt. Throws a UsageError without any.
 */
async function signingMaterial(
  { io, prompts }: Pick<Context, 'io' | 'prompts'>,
  flags: FlagValues,
): Promise<SigningMaterial['secret']> {
  const file = flags['signing-key']
  if (typeof file === 'string') return { privateKey: privateKeyIn(file, await readFileText(io, file)) }
  const secret = (await readSecret({ io, prompts }, flags, webhookSecret)) ?? io.env[secretVariable]
  if (secret) return secret
  if (prompts.refusal === null) return prompts.secret('Webhook secret:', (text) => text !== '' || 'Required')
  throw new UsageError('The webhook secret is required', {
    why: [prompts.refusal],
    hint: `Set ${secretVariable}, or use --${webhookSecret.name}-stdin`,
  })
}

function privateKeyIn(file: string, text: string): JsonObject {
  const key = parseJsonOrNull(text)
  if (
    isJsonObject(key) &&
    key['kty'] === 'RSA' &&
    typeof key['d'] === 'string' &&
    typeof key['kid'] === 'string'
  ) {
    return key
  }
  throw new UsageError(`${file} is not a private RSA key with a kid as JWK (RFC 7517)`, {
    hint: 'Create one: learnctl webhooks generate-key',
  })
}
