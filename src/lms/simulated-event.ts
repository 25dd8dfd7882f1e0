import type { JsonObject } from '../codec/json-text.ts'

/** A reference by the external system's id, the school's id, or an email address. */
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

/** By their names on the command line. */
export type SimulatedEvents = Readonly<Record<string, SimulatedEvent>>

/** Null for a reference of another form. */
export function nameBy(name: SimulatedName, by: SimulatedName['by']): string | null {
  return name.by === by ? name.value : null
}
