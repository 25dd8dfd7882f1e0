import type { JsonObject } from '../codec/json-object.ts'
import type { LmsKind } from '../contract/constants.ts'
import { readCanvasEvent } from './canvas.ts'
import type { EventReader, EventSettings, LmsEvent } from './event.ts'
import { kinds } from './kinds.ts'
import { readMoodleEvent } from './moodle.ts'
import { readOpenedxEvent } from './openedx.ts'
import { instantAt, naiveTimeAt, secondsAt } from './payload-members.ts'
import { readStandardEvent } from './standard.ts'
import { readThinkificEvent } from './thinkific.ts'

const eventReaders: Readonly<Record<LmsKind, EventReader>> = {
  canvas: readCanvasEvent,
  moodle: readMoodleEvent,
  openedx: readOpenedxEvent,
  thinkific: readThinkificEvent,
  standard: readStandardEvent,
}

const timeReaders = { instant: instantAt, naive: naiveTimeAt, seconds: secondsAt }

/**
 * Reads the event of a payload. Throws DeliveryFault `malformed_payload` if the system does not send such
 * payloads.
 */
export function readEvent(kind: LmsKind, body: JsonObject, settings: EventSettings): LmsEvent {
  const { path, form } = kinds[kind].time
  return eventReaders[kind]({ body, settings, at: () => timeReaders[form](body, path) })
}
