import { isJsonObject, type JsonObject, parseJsonOrNull } from '../codec/json-text.ts'
import type { LmsKind, MappedNoun } from '../contract/constants.ts'
import { readCanvasEvent } from './canvas.ts'
import { DeliveryFault } from './delivery.ts'
import type { Candidate, EventReader, EventSettings, LmsEvent } from './event.ts'
import { kinds } from './kinds.ts'
import { readMoodleEvent } from './moodle.ts'
import { readOpenedxEvent } from './openedx.ts'
import { instantAt, naiveTimeAt, secondsAt } from './payload.ts'
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

/**
 * Returns the external ids of the course and the learner of a payload, for mappings; undefined if it has
 * none.
 */
export function mappingKeys(
  kind: LmsKind,
  body: string | null,
  settings: EventSettings,
): Readonly<Record<MappedNoun, string | undefined>> {
  const payload = body === null ? null : parseJsonOrNull(body)
  const event = isJsonObject(payload) ? eventIn(() => readEvent(kind, payload, settings)) : undefined
  if (!event || event.type === 'ignored') return { course: undefined, user: undefined }
  return { course: keyIn(event.course), user: keyIn(event.learner) }
}

function eventIn(adapted: () => LmsEvent): LmsEvent | undefined {
  try {
    return adapted()
  } catch (error) {
    if (error instanceof DeliveryFault) return undefined
    throw error
  }
}

function keyIn(candidates: readonly Candidate[]): string | undefined {
  return candidates.find(({ by }) => by === 'key')?.value
}
