import type { JsonObject } from '../../codec/json-object.ts'

/** What an external system calls a learner or a course: by its own id, by the school's, or by an address. */
export interface SimulatedName {
  readonly by: 'id' | 'externalId' | 'email'
  readonly value: string
}

/** What one event is to say. */
export interface SimulatedFacts {
  readonly user: SimulatedName
  readonly course: SimulatedName
  readonly item: string | undefined
  readonly label: string | undefined
  /** Null where the grade is taken back. */
  readonly score: number | null
  readonly maximum: number
  /** 0 to 100. */
  readonly percentage: number
  readonly published: boolean
  readonly at: Date
  /** The Canvas account that the event comes from. */
  readonly account: string | undefined
  /** Another text for each delivery, the same where one is sent again. */
  readonly serial: string
}

/** What of the facts an event has a place for, beside learner, course and time. */
export type SimulatedFact = 'item' | 'label' | 'score' | 'maximum' | 'percentage' | 'published' | 'account'

/** One event of an external system, as that would send it. */
export interface SimulatedEvent {
  readonly summary: string
  readonly takes: readonly SimulatedFact[]
  /** How it can name a learner and a course. */
  readonly namesUser: readonly SimulatedName['by'][]
  readonly namesCourse: readonly SimulatedName['by'][]
  readonly payload: (facts: SimulatedFacts) => JsonObject
  /** Headers beside those that sign it. */
  readonly headers?: Readonly<Record<string, string>>
}

/** The events of one kind, by the names that the command line has for them. */
export type SimulatedEvents = Readonly<Record<string, SimulatedEvent>>

/** The value of a name of one form; null for another form. */
export function nameBy(name: SimulatedName, by: SimulatedName['by']): string | null {
  return name.by === by ? name.value : null
}
