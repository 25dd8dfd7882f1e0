import { randomBytes } from 'node:crypto'
import { jsonText } from '../../codec/json-text.ts'
import type { LmsKind } from '../../contract/constants.ts'
import { canvasEvents } from '../../lms/canvas-simulation.ts'
import type { SignedDelivery, SigningMaterial } from '../../lms/delivery.ts'
import { kinds } from '../../lms/kinds.ts'
import { moodleEvents } from '../../lms/moodle.ts'
import { openedxEvents } from '../../lms/openedx.ts'
import { sign } from '../../lms/sign.ts'
import type { SimulatedEvent, SimulatedEvents, SimulatedFacts } from '../../lms/simulated-event.ts'
import { standardEvents } from '../../lms/standard.ts'
import { signStandard } from '../../lms/standard-signature.ts'
import { thinkificEvents } from '../../lms/thinkific.ts'
import { UsageError } from '../terminal/errors.ts'
import { type Tampering, tamperings } from './simulation-choices.ts'

export interface Simulation {
  readonly kind: LmsKind
  readonly event: SimulatedEvent
  /** Facts that all deliveries share; an undefined score or percentage varies between them. */
  readonly facts: Omit<SimulatedFacts, 'serial' | 'at' | 'score' | 'percentage'> & {
    readonly score: number | null | undefined
    readonly percentage: number | undefined
  }
  /** Time of the last event; each is a second after the one before. */
  readonly at: Date
  readonly count: number
  readonly secret: SigningMaterial['secret']
  /** Sign with Standard Webhooks, for any kind. */
  readonly standard: boolean
  readonly tampering: Tampering | undefined
}

/**
 * Creates the deliveries of a simulation. The delivery of a number, from 0, has the same content and id each
 * time.
 */
export function deliveriesOf(
  simulation: Simulation,
  now: () => number,
): (index: number) => Promise<SignedDelivery> {
  const { kind, event, secret, standard, tampering } = simulation
  const run = randomBytes(10).toString('hex')
  return async (index) => {
    const facts = factsOf(simulation, index, run)
    const payload = event.payload(facts)
    const sending = { now: now(), id: `msg_${facts.serial.replaceAll('-', '')}` }
    const signed =
      standard && typeof secret === 'string'
        ? signStandard(jsonText(payload), secret, sending)
        : await sign(kind, payload, { secret, ...sending })
    const delivery = { ...signed, headers: { ...event.headers, ...signed.headers } }
    return tampering ? tamperWith(delivery, tampering) : delivery
  }
}

function factsOf({ facts, at, count }: Simulation, index: number, run: string): SimulatedFacts {
  const { maximum, score, percentage } = facts
  return {
    ...facts,
    // Different values in each event, so that the final state shows which was applied last.
    score: score === undefined ? (Math.floor(maximum * 0.8) + index * 7) % (Math.floor(maximum) + 1) : score,
    percentage: percentage ?? (50 + index * 7) % 101,
    at: new Date(at.getTime() - (count - 1 - index) * 1000),
    serial: uuid(run, index),
  }
}

/** Returns a UUID (RFC 9562, version 8) of a run and a number. */
function uuid(run: string, index: number): string {
  const text = run + index.toString(16).padStart(12, '0')
  const parts = [text.slice(0, 8), text.slice(8, 12), `8${text.slice(13, 16)}`, `8${text.slice(17, 20)}`]
  return [...parts, text.slice(20)].join('-')
}

/**
 * Returns the order in which to send deliveries: their numbers, each once, or twice if they are duplicated.
 */
export function sendingOrder(
  { count, duplicate, shuffle }: { count: number; duplicate: boolean; shuffle: boolean },
  random: () => number,
): Uint32Array {
  const times = duplicate ? 2 : 1
  const order = Uint32Array.from({ length: count * times }, (_, place) => Math.floor(place / times))
  if (!shuffle) return order
  // Fisher–Yates shuffle.
  for (let last = order.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1))
    const moved = order[last] ?? 0
    order[last] = order[other] ?? 0
    order[other] = moved
  }
  return order
}

/**
 * Returns the parts of a delivery that its signature protects; a change of any other part is not detected.
 */
function protectedParts(kind: LmsKind, standard: boolean): readonly Tampering[] {
  const { proof } = kinds[kind]
  if (standard || proof.by === 'standard') return tamperings
  switch (proof.by) {
    case 'jwt':
      return ['body', 'id', 'signature']
    case 'hmac':
      return ['body', 'signature']
    default:
      // The delivery contains the secret itself, and no signature.
      return ['signature']
  }
}

function tamperWith(delivery: SignedDelivery, part: Tampering): SignedDelivery {
  const { headers } = delivery
  if (headers['webhook-signature'] === undefined) return withoutStandard(delivery, part)
  switch (part) {
    case 'body':
      return { ...delivery, body: changeBody(delivery.body) }
    case 'id':
      return withHeader(delivery, 'webhook-id', `${headers['webhook-id']}x`)
    case 'time':
      return withHeader(delivery, 'webhook-timestamp', String(Number(headers['webhook-timestamp']) + 1))
    case 'signature':
      return withHeader(delivery, 'webhook-signature', changeText(headers['webhook-signature'], 3))
  }
}

function withoutStandard(delivery: SignedDelivery, part: Tampering): SignedDelivery {
  const { headers, query, body } = delivery
  const jwt = /^"([\w-]+)\.([\w-]+)\.([\w-]+)"$/.exec(body)
  if (jwt) {
    const [, head = '', claims = '', signature = ''] = jwt
    const parts = {
      id: [changedJson(head, (text) => text.replace(/"kid":"/, '"kid":"x')), claims, signature],
      body: [head, changedJson(claims, changeBody), signature],
      time: [head, claims, signature],
      signature: [head, claims, changeText(signature)],
    }
    return { ...delivery, body: `"${parts[part].join('.')}"` }
  }
  if (part === 'body') return { ...delivery, body: changeBody(body) }
  const signature = Object.keys(headers).find((name) => /hmac|signature/.test(name))
  if (signature !== undefined) return withHeader(delivery, signature, changeText(headers[signature] ?? ''))
  // Replace it completely: a secret with one changed letter would still reveal the secret.
  const [name] = Object.keys(query)
  if (name !== undefined) return { ...delivery, query: { [name]: 'tampered' } }
  return { ...delivery, body: body.replace(/"token":"(?:[^"\\]|\\.)*"/, '"token":"tampered"') }
}

function withHeader(delivery: SignedDelivery, name: string, value: string): SignedDelivery {
  return { ...delivery, headers: { ...delivery.headers, [name]: value } }
}

function changedJson(encoded: string, change: (text: string) => string): string {
  return Buffer.from(change(Buffer.from(encoded, 'base64url').toString())).toString('base64url')
}

/** Adds a member that a reader ignores to a JSON text. */
function changeBody(body: string): string {
  return `{"tampered":true,${body.slice(1)}`
}

/** Changes the character at an index; to a digit, which has no case. */
function changeText(text: string, at = 0): string {
  const other = text[at] === '0' ? '1' : '0'
  return text.slice(0, at) + other + text.slice(at + 1)
}

/** Returns the part to change. Throws a UsageError on one that the kind's signature does not protect. */
export function tamperingOf(
  given: string | undefined,
  kind: LmsKind,
  standard: boolean,
): Tampering | undefined {
  if (given === undefined) return undefined
  const part = tamperings.find((each) => each === given)
  const parts = protectedParts(kind, standard)
  if (part && parts.includes(part)) return part
  if (part === undefined) {
    throw new UsageError(`--tamper must be one of ${tamperings.join(', ')}, not ${JSON.stringify(given)}`, {
      choice: { given, valid: tamperings },
    })
  }
  throw new UsageError(`--tamper ${part} proves nothing: ${kinds[kind].title} does not sign that`, {
    hint: `Use ${parts.map((each) => `--tamper ${each}`).join(' or ')}, or --standard-headers`,
  })
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
