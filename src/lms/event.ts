import type { JsonObject } from '../codec/json-text.ts'
import { isGradable, maxScore } from '../contract/constants.ts'

/**
 * A way in which an external system identifies a course or a learner, best first. `key` is its own id, which
 * a mapping resolves; `externalId` the school's id, which both systems know; `email` an address; `reference`
 * one of our ids, or `ext:…` or `email:…` as the API accepts them.
 */
export interface Candidate {
  readonly by: 'key' | 'externalId' | 'email' | 'reference'
  /** 1 to 255 characters. */
  readonly value: string
}

interface About {
  /** Event name in the external system, such as `grade_change`; at most 255 characters. */
  readonly name: string
  readonly course: readonly Candidate[]
  /** At least one. */
  readonly learner: readonly Candidate[]
}

export interface GradeEvent extends About {
  readonly type: 'grade'
  /** The item in the external system, 1 to 255 characters; `$course` for the course as a whole. */
  readonly itemId: string
  /** At most 255 characters; empty if the item has no name. */
  readonly label: string
  /** 0 to 1,000,000, up to 100 times the maximum; null if the grade was removed. */
  readonly scoreGiven: number | null
  /** Above 0, to 1,000,000. */
  readonly scoreMaximum: number
  /** 0 to 100, from the integration's settings for this item; null without any. */
  readonly weight: number | null
  /** False for a grade that is hidden from the learner; it does not count. */
  readonly published: boolean
  /** RFC 3339, UTC, with milliseconds. */
  readonly gradedAt: string
}

export interface ProgressEvent extends About {
  readonly type: 'progress'
  /** 0 to 100. */
  readonly percentage: number
  /** RFC 3339, UTC, with milliseconds. */
  readonly at: string
}

interface IgnoredEvent {
  readonly type: 'ignored'
  readonly name: string
  readonly reason: IgnoredReason
}

/**
 * Why an event changes nothing: it is about something else (`event_type`), not about a course (`context`) or
 * an identified learner (`anonymous`); it has no score, or none that a gradebook accepts (`no_score`,
 * `score_out_of_range`); the item has no maximum, or the course has no requirements (`no_maximum`,
 * `no_requirements`).
 */
export type IgnoredReason =
  | 'event_type'
  | 'context'
  | 'anonymous'
  | 'no_score'
  | 'score_out_of_range'
  | 'no_maximum'
  | 'no_requirements'

export type LmsEvent = GradeEvent | ProgressEvent | IgnoredEvent

/** For systems that send scores without a maximum. */
export interface GradeItem {
  readonly name: string
  readonly maximum: number
  readonly weight: number | null
}

export interface EventSettings {
  /** By the item's id in the external system. */
  readonly gradeItems: Readonly<Record<string, GradeItem>>
  /** Maximum of an item if neither the event nor `gradeItems` has one. */
  readonly defaultGradeMaximum: number
}

export interface ReadablePayload {
  readonly body: JsonObject
  readonly settings: EventSettings
  /** Returns the time of the event, as the kind's table has it; throws DeliveryFault without one. */
  readonly at: () => string
}

/** Throws DeliveryFault `malformed_payload`. */
export type EventReader = (reading: ReadablePayload) => LmsEvent

/** Leaves out values that are absent, and repeated ones. */
export function candidatesOf(...found: readonly (readonly [Candidate['by'], string | null])[]): Candidate[] {
  const seen = new Set<string>()
  return found.flatMap(([by, value]) => {
    if (value === null || seen.has(`${by}:${value}`)) return []
    seen.add(`${by}:${value}`)
    return [{ by, value }]
  })
}

export function ignoreEvent(name: string, reason: IgnoredReason): IgnoredEvent {
  return { type: 'ignored', name, reason }
}

/**
 * Completes the grade with the settings of the integration; an ignored event if a gradebook cannot take it.
 *
 * @param takesDefault true if the default of the integration applies to a maximum that is unknown otherwise
 */
export function makeGrade(
  event: Omit<GradeEvent, 'type' | 'weight' | 'scoreMaximum'> & {
    readonly scoreMaximum: number | null
  },
  { gradeItems, defaultGradeMaximum }: EventSettings,
  takesDefault = false,
): LmsEvent {
  const { name, scoreGiven } = event
  const item = Object.hasOwn(gradeItems, event.itemId) ? gradeItems[event.itemId] : undefined
  const known = event.scoreMaximum || item?.maximum
  // A grade that was removed needs no maximum.
  const scoreMaximum = known ?? (takesDefault || scoreGiven === null ? defaultGradeMaximum : null)
  if (scoreMaximum === null) return ignoreEvent(name, 'no_maximum')
  const isScore = [scoreGiven ?? 0, scoreMaximum].every((score) => score >= 0 && score <= maxScore)
  if (!isScore || !isGradable(scoreGiven ?? 0, scoreMaximum)) return ignoreEvent(name, 'score_out_of_range')
  return {
    type: 'grade',
    ...event,
    label: event.label || item?.name || '',
    scoreMaximum,
    weight: item?.weight ?? null,
  }
}

export interface SimulatedName {
  readonly by: 'id' | 'externalId' | 'email'
  readonly value: string
}

export interface SimulatedFacts {
  readonly user: SimulatedName
  readonly course: SimulatedName
  readonly item: string | undefined
  readonly label: string | undefined
  readonly score: number
  readonly maximum: number
  /** 0 to 100. */
  readonly percentage: number
  readonly published: boolean
  readonly at: Date
  /** Canvas account that the event comes from. */
  readonly account: string | undefined
  /** A different text for each delivery; the same when it is sent again. */
  readonly serial: string
}

/** Facts that only some events contain. Learner, course and time are in all. */
export type SimulatedFact = 'item' | 'label' | 'score' | 'maximum' | 'percentage' | 'published'

export interface SimulatedEvent {
  readonly summary: string
  readonly takes: readonly SimulatedFact[]
  /** Forms of references that it may contain. */
  readonly namesUser: readonly SimulatedName['by'][]
  readonly namesCourse: readonly SimulatedName['by'][]
  readonly payload: (facts: SimulatedFacts) => JsonObject
  /** Besides the signature. */
  readonly headers?: Readonly<Record<string, string>>
}

export type SimulatedEvents = Readonly<Record<string, SimulatedEvent>>

/** Null for a reference of another form. */
export function nameBy(name: SimulatedName, by: SimulatedName['by']): string | null {
  return name.by === by ? name.value : null
}
