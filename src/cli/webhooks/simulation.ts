import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto'
import { ApiError } from '../../client/errors.ts'
import { shellWord } from '../../codec/display-text.ts'
import { isJsonObject, type JsonObject, jsonText, parseJsonOrNull } from '../../codec/json-text.ts'
import type { LmsKind } from '../../contract/constants.ts'
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
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import type { FlagValues } from '../command/flag.ts'
import { readSecret, webhookSecret } from '../command/secret-input.ts'
import { valueAt } from '../output/columns.ts'
import { UsageError } from '../terminal/errors.ts'
import { readFileText } from '../terminal/text-input.ts'

export interface Simulation {
  readonly kind: LmsKind
  readonly event: SimulatedEvent
  readonly facts: SimulatedFacts
  readonly secret: SigningMaterial['secret']
}

/** Returns the event as the real system would send it. */
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

export const simulatedEvents: Readonly<Record<LmsKind, SimulatedEvents>> = {
  canvas: canvasEvents,
  moodle: moodleEvents,
  openedx: openedxEvents,
  thinkific: thinkificEvents,
  classroom: standardEvents,
  oneroster: standardEvents,
  standard: standardEvents,
}

/** Returns what `webhooks send` sends. Throws a UsageError on an unknown event, and on a flag that does not fit it. */
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

/** Throws a UsageError on a fact that the real system's event does not contain. */
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

/**
 * Returns the Canvas account of the integration that receives the events. Throws a UsageError if it is unknown: for a
 * URL of no profile, and if the integration is unreadable or has none.
 */
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

/** Generates a key pair like Canvas's: RSA with 2048 bits for RS256 (RFC 7518 §3.3), both as JSON. */
export function newSigningKey() {
  const kid = `test-${randomBytes(6).toString('hex')}`
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const facts = { kid, alg: 'RS256', use: 'sig' }
  return {
    kid,
    /** A JWK (RFC 7517). */
    privateKey: JSON.stringify({ ...privateKey.export({ format: 'jwk' }), ...facts }, null, 2),
    /** A JWKS (RFC 7517 §5). */
    keySet: JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), ...facts }] }, null, 2),
  }
}
