/**
 * One way in which an external system names a course or a learner, best first. `key` is its own id, as a mapping has it;
 * `externalId` the school's id, which both systems know; `email` an address; `reference` an id of ours, or `ext:…` or
 * `email:…` as the API takes them.
 */
export interface Candidate {
  readonly by: 'key' | 'externalId' | 'email' | 'reference'
  /** 1 to 255 characters. */
  readonly value: string
}

interface About {
  /** What the external system calls this event, such as `grade_change`; at most 255 characters. */
  readonly name: string
  /** At least one. */
  readonly course: readonly Candidate[]
  /** At least one. */
  readonly learner: readonly Candidate[]
}

/** A grade of a learner. */
export interface GradeEvent extends About {
  readonly type: 'grade'
  /** The item in the external system, 1 to 255 characters; `$course` for the course as a whole. */
  readonly itemId: string
  /** At most 255 characters; empty where nobody has named the item. */
  readonly label: string
  /** 0 to 1,000,000, up to 100 times the maximum; null where the grade was taken back. */
  readonly scoreGiven: number | null
  /** Above 0, to 1,000,000. */
  readonly scoreMaximum: number
  /** 0 to 100, as the integration has it for this item; null where it says nothing. */
  readonly weight: number | null
  /** False for what the learner is not to see yet; it counts for nothing. */
  readonly published: boolean
  /** RFC 3339, UTC, with milliseconds. */
  readonly gradedAt: string
}

/** How far a learner has come. */
export interface ProgressEvent extends About {
  readonly type: 'progress'
  /** 0 to 100. */
  readonly percentage: number
  /** When, RFC 3339, UTC, with milliseconds. */
  readonly at: string
}

/** An event that changes nothing here. */
export interface IgnoredEvent {
  readonly type: 'ignored'
  readonly name: string
  readonly reason: IgnoredReason
}

/**
 * Why an event changes nothing: it is about something else (`event_type`); it is about no course (`context`), or no
 * learner who is known (`anonymous`); there is no score, or none that a gradebook takes (`no_score`,
 * `score_out_of_range`); the item has no maximum, or the course nothing to complete (`no_maximum`, `no_requirements`).
 */
export type IgnoredReason =
  | 'event_type'
  | 'context'
  | 'anonymous'
  | 'no_score'
  | 'score_out_of_range'
  | 'no_maximum'
  | 'no_requirements'

/** What a delivery means, whichever system it came from. */
export type LmsEvent = GradeEvent | ProgressEvent | IgnoredEvent

/** What an integration knows of a graded item in the external system. */
export interface GradeItem {
  readonly name: string
  readonly maximum: number
  readonly weight: number | null
}

/** What an integration adds to the events of its system. */
export interface EventSettings {
  /** By the item's id in the external system. */
  readonly gradeItems: Readonly<Record<string, GradeItem>>
  /** The maximum of an item that neither the event nor `gradeItems` tells of. */
  readonly defaultGradeMaximum: number
}
