import { jsonText } from '../../codec/json-text.ts'
import type { LmsKind } from '../../contract/constants.ts'
import { canvasEvents } from '../../lms/canvas-simulation.ts'
import type { SignedDelivery, SigningMaterial } from '../../lms/delivery.ts'
import { moodleEvents } from '../../lms/moodle.ts'
import { openedxEvents } from '../../lms/openedx.ts'
import { sign } from '../../lms/sign.ts'
import type { SimulatedEvent, SimulatedEvents, SimulatedFacts } from '../../lms/simulated-event.ts'
import { standardEvents } from '../../lms/standard.ts'
import { signStandard } from '../../lms/standard-signature.ts'
import { thinkificEvents } from '../../lms/thinkific.ts'

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
