import { UsageError } from '../terminal/errors.ts'
import { type Outcome, outcomes } from './choices.ts'
import type { DeliveryAnswer } from './delivery-answer.ts'

/** What is expected of all answers, and how many there are of each. */
export interface Tally {
  add(answer: DeliveryAnswer): void
  /** Such as `8 applied, 2 duplicate`. */
  readonly summary: string
  /** Answers that were not expected. */
  readonly unexpected: number
  /** The first of them. */
  readonly first: DeliveryAnswer | undefined
}

/**
 * Counts answers. Expected is one outcome, or one of several where deliveries overtake each other; of one that is sent twice
 * exactly one answer says `duplicate`.
 */
export function createTally(expected: readonly Outcome[], duplicate: boolean): Tally {
  const counts = new Map<string, number>()
  /** By the number of a delivery, whether its duplicate has been told. */
  const told = new Map<number, boolean>()
  let unexpected = 0
  let first: DeliveryAnswer | undefined

  function isExpected({ delivery, outcome }: DeliveryAnswer): boolean {
    if (!duplicate) return expected.some((each) => each === outcome)
    const isDuplicate = outcome === 'duplicate'
    const before = told.get(delivery)
    if (before === undefined) told.set(delivery, isDuplicate)
    else told.delete(delivery)
    if (before === isDuplicate) return false
    return isDuplicate || expected.some((each) => each === outcome)
  }

  return {
    add: (answer) => {
      counts.set(answer.outcome, (counts.get(answer.outcome) ?? 0) + 1)
      if (isExpected(answer)) return
      unexpected += 1
      first ??= answer
    },
    get summary() {
      const known: readonly string[] = outcomes
      const order = [...known, ...[...counts.keys()].filter((outcome) => !known.includes(outcome))]
      return order
        .flatMap((outcome) => (counts.get(outcome) ? `${counts.get(outcome)} ${outcome}` : []))
        .join(', ')
    },
    get unexpected() {
      return unexpected
    },
    get first() {
      return first
    },
  }
}

/** The outcomes that a run expects. Throws a UsageError on one that there is none of. */
export function expectedOutcomes(
  given: string | undefined,
  { tampered, overtaking }: { tampered: boolean; overtaking: boolean },
): readonly Outcome[] {
  if (given === undefined) {
    if (tampered) return ['refused']
    return overtaking ? ['applied', 'stale'] : ['applied']
  }
  const known = outcomes.find((each) => each === given)
  if (known) return [known]
  throw new UsageError(`--expect must be one of ${outcomes.join(', ')}, not ${JSON.stringify(given)}`, {
    choice: { given, valid: outcomes },
  })
}

/** `1 delivery`, `12 deliveries`. */
export function deliveryCount(count: number): string {
  return `${count} ${count === 1 ? 'delivery' : 'deliveries'}`
}
