import { randomBytes } from 'node:crypto'
import { jsonText } from '../../codec/json-text.ts'
import type { LmsKind } from '../../contract/constants.ts'
import type { SignedDelivery, SigningMaterial } from '../../lms/delivery.ts'
import { sign } from '../../lms/sign.ts'
import { signStandard } from '../../lms/standard-signature.ts'
import type { SimulatedEvent, SimulatedFacts } from './simulated-event.ts'
import type { Tampering } from './simulation-choices.ts'
import { tamperWith } from './tampering.ts'

/** The options of a simulation. */
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
