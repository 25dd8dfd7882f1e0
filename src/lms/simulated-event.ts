import type { JsonObject } from '../codec/json-text.ts'

/**
 * A reference to a learner or a course: by the external system's id, the school's id, or an email address.
 */
export interface SimulatedName {
  readonly by: 'id' | 'externalId' | 'email'
  readonly value: string
}

/** The content of an event. */
export interface SimulatedFacts {
  readonly user: SimulatedName
  readonly course: SimulatedName
  readonly item: string | undefined
  readonly label: string | undefined
  /** Null to remove the grade. */
  readonly score: number | null
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
export type SimulatedFact = 'item' | 'label' | 'score' | 'maximum' | 'percentage' | 'published' | 'account'

/** An event of an external system. */
export interface SimulatedEvent {
  readonly summary: string
  readonly takes: readonly SimulatedFact[]
  /** Forms of the references that it may contain. */
  readonly namesUser: readonly SimulatedName['by'][]
  readonly namesCourse: readonly SimulatedName['by'][]
  readonly payload: (facts: SimulatedFacts) => JsonObject
  /** Headers beside the signature. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Events of one kind, by their names on the command line. */
export type SimulatedEvents = Readonly<Record<string, SimulatedEvent>>

/** Returns the value of a reference of this form; null for another form. */
export function nameBy(name: SimulatedName, by: SimulatedName['by']): string | null {
  return name.by === by ? name.value : null
}
