import type { JsonObject } from '../../../codec/json-object.ts'
import type { LmsKind } from '../../../contract/integration-choices.ts'
import { DeliveryFault } from '../../../webhooks/delivery-fault.ts'
import type { EventSettings, LmsEvent } from '../../../webhooks/event.ts'
import { readEvent } from '../../../webhooks/read-event.ts'

/** Reads the event of a payload; returns the fault of a malformed one. */
export function meaningOf(
  kind: LmsKind,
  body: JsonObject,
  settings: EventSettings,
): LmsEvent | DeliveryFault {
  try {
    return readEvent(kind, body, settings)
  } catch (error) {
    if (error instanceof DeliveryFault) return error
    throw error
  }
}
