import type { JsonObject } from '../codec/json-object.ts'
import { isGradable, largestScore } from '../contract/score.ts'
import type { Candidate, EventSettings, GradeEvent, IgnoredEvent, IgnoredReason, LmsEvent } from './event.ts'

/** What an adapter reads a payload with. */
export interface Reading {
  readonly body: JsonObject
  readonly settings: EventSettings
  /** The time of the event, by the kind's table; throws DeliveryFault where there is none. */
  readonly at: () => string
}

/** Says what a payload of one kind means. Throws DeliveryFault `malformed_payload` where it is not of its shape. */
export type Adapter = (reading: Reading) => LmsEvent

/** Candidates of those values that are there. */
export function candidates(...found: readonly (readonly [Candidate['by'], string | null])[]): Candidate[] {
  const seen = new Set<string>()
  return found.flatMap(([by, value]) => {
    if (value === null || seen.has(`${by}:${value}`)) return []
    seen.add(`${by}:${value}`)
    return [{ by, value }]
  })
}

/** An event that changes nothing. */
export function ignored(name: string, reason: IgnoredReason): IgnoredEvent {
  return { type: 'ignored', name, reason }
}

/** A grade with what the integration knows of its item; ignored where a gradebook cannot take it. */
export function grade(
  given: Omit<GradeEvent, 'type' | 'weight' | 'scoreMaximum'> & {
    /** Null where the event has none. */
    readonly scoreMaximum: number | null
    /** True where the integration's default stands in for a maximum that nothing else tells. */
    readonly takesDefault: boolean
  },
  { gradeItems, defaultGradeMaximum }: EventSettings,
): LmsEvent {
  const { takesDefault, ...event } = given
  const { name, scoreGiven } = event
  const item = Object.hasOwn(gradeItems, event.itemId) ? gradeItems[event.itemId] : undefined
  const known = event.scoreMaximum || item?.maximum
  // Of a grade that is taken back no maximum is needed.
  const scoreMaximum = known ?? (takesDefault || scoreGiven === null ? defaultGradeMaximum : null)
  if (scoreMaximum === null) return ignored(name, 'no_maximum')
  const isScore = [scoreGiven ?? 0, scoreMaximum].every((score) => score >= 0 && score <= largestScore)
  if (!isScore || !isGradable(scoreGiven ?? 0, scoreMaximum)) return ignored(name, 'score_out_of_range')
  return {
    type: 'grade',
    ...event,
    label: event.label || item?.name || '',
    scoreMaximum,
    weight: item?.weight ?? null,
  }
}
