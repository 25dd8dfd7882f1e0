import { isJsonObject, type JsonObject, parseJsonOrNull } from '../codec/json-text.ts'
import type { LmsKind, MappedNoun, ReadableKind } from '../contract/constants.ts'
import { canonicalCanvasIdOf, canvasIdsOf, findCaliperLearner, readCanvasEvent } from './canvas.ts'
import { canvasRecords } from './canvas-records.ts'
import { classroomRecords } from './classroom-records.ts'
import { DeliveryFault, identifierAt, instantAt, naiveTimeAt, secondsAt } from './delivery.ts'
import { type Candidate, candidatesOf, type EventReader, type EventSettings, type LmsEvent } from './event.ts'
import { kinds, type LearnerPlace } from './kinds.ts'
import { readMoodleEvent } from './moodle.ts'
import { moodleRecords } from './moodle-records.ts'
import { oneRosterRecords } from './oneroster-records.ts'
import { openedxRecords, readOpenedxEvent } from './openedx.ts'
import type { RecordSystem } from './records.ts'
import { readStandardEvent, standardCandidatesOf } from './standard.ts'
import { readThinkificEvent } from './thinkific.ts'

const eventReaders: Readonly<Record<LmsKind, EventReader>> = {
  canvas: readCanvasEvent,
  moodle: readMoodleEvent,
  openedx: readOpenedxEvent,
  thinkific: readThinkificEvent,
  classroom: readStandardEvent,
  oneroster: readStandardEvent,
  standard: readStandardEvent,
}

const timeReaders = { instant: instantAt, naive: naiveTimeAt, seconds: secondsAt }

/** Throws DeliveryFault `malformed_payload` if the system does not send such payloads. */
export function readEvent(kind: LmsKind, body: JsonObject, settings: EventSettings): LmsEvent {
  const { path, form } = kinds[kind].time
  return eventReaders[kind]({ body, settings, at: () => timeReaders[form](body, path) })
}

/** External ids of the course and the learner; undefined if there are none. */
export function mappingKeys(
  kind: LmsKind,
  body: string | null,
  settings: EventSettings,
): Readonly<Record<MappedNoun, string | undefined>> {
  const payload = body === null ? null : parseJsonOrNull(body)
  const event = isJsonObject(payload) ? readOrNone(() => readEvent(kind, payload, settings)) : undefined
  if (!event || event.type === 'ignored') return { course: undefined, user: undefined }
  return { course: keyIn(event.course), user: keyIn(event.learner) }
}

function readOrNone(read: () => LmsEvent): LmsEvent | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof DeliveryFault) return undefined
    throw error
  }
}

function keyIn(candidates: readonly Candidate[]): string | undefined {
  return candidates.find(({ by }) => by === 'key')?.value
}

/**
 * Also of an invalid or ignored payload, so that erasing a user finds stored ones. Never throws; empty if the payload
 * has no learner.
 */
export function learnerCandidatesOf(kind: LmsKind, body: JsonObject): readonly Candidate[] {
  const objects = [body, ...Object.values(body)].filter(isJsonObject)
  const within = kind === 'openedx' ? objects : [body]
  const found = kinds[kind].learner.flatMap(([by, path]) =>
    within.flatMap((object) => {
      const name = identifierAt(object, path)
      return name === null ? [] : [[by, name] as const]
    }),
  )
  return candidatesOf(
    ...found.flatMap((name) => formsOf(kind, name)),
    ...(kind === 'canvas' ? findCaliperLearner(body) : []),
  )
}

function formsOf(kind: LmsKind, [by, name]: LearnerPlace): readonly LearnerPlace[] {
  if (by === 'reference') return standardCandidatesOf(name)
  return kind === 'canvas' && by === 'key' ? canvasIdsOf(name, null) : [[by, name]]
}

/** Identifies a learner that only has a key of an external system; the same for all forms of the key. */
export function keyHintOf(kind: string, key: string): string {
  return `key:${kind}:${kind === 'canvas' ? canonicalCanvasIdOf(key, null) : key}`
}

/** A system is one line here and one file. */
const systems: Readonly<Record<ReadableKind, RecordSystem>> = {
  canvas: canvasRecords,
  moodle: moodleRecords,
  oneroster: oneRosterRecords,
  openedx: openedxRecords,
  classroom: classroomRecords,
}

/** Undefined for a kind whose records cannot be read. */
export function recordSystemOf(kind: LmsKind): RecordSystem | undefined {
  return Object.hasOwn(systems, kind) ? systems[kind as ReadableKind] : undefined
}

export function readableTitles(): readonly string[] {
  return Object.values(systems).map(({ title }) => title)
}
