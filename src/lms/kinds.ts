import { isJsonObject, type JsonObject, parseJsonOrNull } from '../codec/json-text.ts'
import type { LmsKind, MappedNoun, ReadableKind } from '../contract/constants.ts'
import { canonicalCanvasIdOf, canvasIdsOf, findCaliperLearner, readCanvasEvent } from './canvas.ts'
import { canvasRecords } from './canvas-records.ts'
import { classroomRecords } from './classroom-records.ts'
import { DeliveryFault, identifierAt, instantAt, naiveTimeAt, secondsAt } from './delivery.ts'
import { type Candidate, candidatesOf, type EventReader, type EventSettings, type LmsEvent } from './event.ts'
import { readMoodleEvent } from './moodle.ts'
import { moodleRecords } from './moodle-records.ts'
import { oneRosterRecords } from './oneroster-records.ts'
import { openedxRecords, readOpenedxEvent } from './openedx.ts'
import type { RecordSystem } from './records.ts'
import { readStandardEvent, standardCandidatesOf } from './standard.ts'
import { readThinkificEvent } from './thinkific.ts'

export type Proof =
  /** The body is a JWT (RFC 7519) in compact form, quoted or not, signed with a key of the sender. */
  | { readonly by: 'jwt'; readonly algorithm: 'RS256' }
  | { readonly by: 'member'; readonly member: string }
  /** A query parameter, or the password of the URL's Basic credentials (RFC 7617), is the secret. */
  | { readonly by: 'address'; readonly parameter: string }
  /** A header contains an HMAC of the body, keyed with the secret. */
  | { readonly by: 'hmac'; readonly header: string; readonly hash: 'sha256'; readonly encoding: 'hex' }
  /** The headers of Standard Webhooks 1.0.0. */
  | { readonly by: 'standard' }

/** RFC 3339, the same without a zone in UTC, or seconds since 1970. */
interface TimeSource {
  readonly path: string
  readonly form: 'instant' | 'naive' | 'seconds'
}

/** Each system may also sign with Standard Webhooks. */
export interface Kind {
  readonly title: string
  readonly proof: Proof
  /** Path of the delivery's id in the payload; null if deliveries are identified by their digest. */
  readonly id: string | null
  readonly time: TimeSource
  /** Media types of the body, without parameters. */
  readonly mediaTypes: readonly string[]
  /** Where payloads identify their learner, also payloads that are otherwise invalid. */
  readonly learner: readonly LearnerPlace[]
  /** Instructions to send its grades: one sentence, without a full stop. */
  readonly setUp: string
}

type LearnerPlace = readonly [Candidate['by'], string]

export const relaySetUp =
  'Send grade.updated events to this URL, signed with the webhook secret as Standard Webhooks 1.0.0 says'

/** Deliveries of a relay: Standard Webhooks with references to the records of the academy. */
const relayed = {
  proof: { by: 'standard' },
  id: null,
  time: { path: 'timestamp', form: 'instant' },
  mediaTypes: ['application/json'],
  learner: [['reference', 'data.userId']],
} as const satisfies Partial<Kind>

export const kinds: Readonly<Record<LmsKind, Kind>> = {
  canvas: {
    title: 'Canvas',
    proof: { by: 'jwt', algorithm: 'RS256' },
    id: null,
    time: { path: 'metadata.event_time', form: 'instant' },
    mediaTypes: ['application/json', 'application/jwt', 'text/plain'],
    learner: [
      ['email', 'body.user.email'],
      ['externalId', 'body.student_sis_id'],
      ['key', 'body.user_id'],
      ['key', 'body.student_id'],
      ['key', 'body.user.id'],
    ],
    setUp:
      'In Canvas, under Admin > Data Services, add a subscription with this URL, the method HTTPS and “Sign Payload”, for grade_change, course_grade_change, course_progress and course_completed',
  },
  moodle: {
    title: 'Moodle',
    proof: { by: 'member', member: 'token' },
    id: null,
    time: { path: 'timecreated', form: 'seconds' },
    mediaTypes: ['application/json'],
    learner: [['key', 'relateduserid']],
    setUp:
      'In Moodle, under Site administration > Server > Webhooks (plugin local_webhooks), add a service with this URL, the webhook secret as its token, the format JSON, and the events user_graded and course_completed',
  },
  openedx: {
    title: 'Open edX',
    proof: { by: 'address', parameter: 'token' },
    id: 'event_metadata.id',
    time: { path: 'event_metadata.time', form: 'naive' },
    mediaTypes: ['application/json'],
    learner: [['key', 'user_id']],
    setUp:
      'In the Open edX admin, under Openedx Webhooks, add a webhook with this URL for the event org.openedx.learning.course.persistent_grade_summary.changed.v1',
  },
  thinkific: {
    title: 'Thinkific',
    proof: { by: 'hmac', header: 'x-thinkific-hmac-sha256', hash: 'sha256', encoding: 'hex' },
    id: 'id',
    time: { path: 'created_at', form: 'instant' },
    mediaTypes: ['application/json'],
    learner: [
      ['email', 'payload.user.email'],
      ['key', 'payload.user.id'],
    ],
    setUp:
      'In Thinkific, create a webhook with this URL for the topics enrollment.progress and enrollment.completed; the webhook secret is the API key of the site, or the client secret of the app',
  },
  classroom: {
    title: 'Google Classroom',
    ...relayed,
    setUp: 'Sign in with learnctl integrations sign-in classroom to read and write courses and grades',
  },
  oneroster: {
    title: 'OneRoster',
    ...relayed,
    setUp:
      'Set the base URL, the token URL, the client id and the client secret to read the provider with learnctl roster diff integration:oneroster',
  },
  standard: { title: 'Standard Webhooks', ...relayed, setUp: relaySetUp },
}

export function setUpOf(kind: string): string | undefined {
  return Object.hasOwn(kinds, kind) ? kinds[kind as LmsKind].setUp : undefined
}

/** False for a system whose grades a relay sends. */
export function isSendingEvents(kind: string): boolean {
  return kind !== 'classroom' && kind !== 'oneroster'
}

/** Returns path and query, below the URL of the server. */
export function webhookTargetOf(kind: string): string {
  const proof = Object.hasOwn(kinds, kind) ? kinds[kind as LmsKind].proof : undefined
  // A system that does not sign has the secret in its URL.
  return `/webhooks/${kind}/grades${proof?.by === 'address' ? `?${proof.parameter}=<webhook secret>` : ''}`
}

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

/** Also of an invalid or ignored payload, so that erasing a user finds stored ones. Never throws. */
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
