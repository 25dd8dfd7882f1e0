import { CommandError, type ExitName, UsageError } from '../terminal/errors.ts'
import { enrolStep, mappingSteps, thenReplay } from './next-steps.ts'
import type { DeliveryResult } from './send-deliveries.ts'
import type { Simulation } from './simulation.ts'
import { type Outcome, outcomes } from './simulation-choices.ts'

/** Counts results by outcome, and those that were not expected. */
export interface Tally {
  add(answer: DeliveryResult): void
  /** For example `8 applied, 2 duplicate`. */
  readonly summary: string
  readonly unexpected: number
  readonly first: DeliveryResult | undefined
}

/**
 * Creates a tally of results. It expects one outcome, or one of several if deliveries overtake each other;
 * for a delivery sent twice, exactly one `duplicate`.
 */
export function createTally(expected: readonly Outcome[], duplicate: boolean): Tally {
  const counts = new Map<string, number>()
  /** Whether the duplicate has been reported, by number of the delivery. */
  const hasDuplicateByDelivery = new Map<number, boolean>()
  let unexpected = 0
  let first: DeliveryResult | undefined

  function isExpected({ delivery, outcome }: DeliveryResult): boolean {
    if (!duplicate) return expected.some((each) => each === outcome)
    const isDuplicate = outcome === 'duplicate'
    const before = hasDuplicateByDelivery.get(delivery)
    if (before === undefined) hasDuplicateByDelivery.set(delivery, isDuplicate)
    else hasDuplicateByDelivery.delete(delivery)
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

/** Throws a UsageError on an unknown outcome. */
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

export function deliveryCount(count: number): string {
  return `${count} ${count === 1 ? 'delivery' : 'deliveries'}`
}

interface Run {
  readonly total: number
  readonly expected: readonly Outcome[]
  readonly exits: Readonly<Record<number, ExitName>>
}

/** Says the first unexpected outcome, and what to do. */
export function unexpectedOutcome(
  simulation: Simulation,
  tally: Tally,
  first: DeliveryResult,
  { total, expected, exits }: Run,
): CommandError {
  const { outcome, reason, status } = first
  const some = tally.unexpected < total
  const exit = some ? 'partial' : status < 400 ? 'failure' : (exits[status] ?? 'failure')
  const firstOutcome = `${outcome} (${status})${reason === null ? '' : `: ${reason}`}`
  const message =
    total === 1
      ? `Unexpected outcome: ${firstOutcome}`
      : `${tally.unexpected} of ${total} outcomes were unexpected; the first was ${firstOutcome}`
  const hint = hintFor(simulation, first)
  return new CommandError('unexpected_outcome', exit, message, {
    why: [`Expected ${expected.join(' or ')}`],
    ...(hint !== null && { hint }),
  })
}

function hintFor(
  simulation: Simulation,
  { outcome, status, reason, deliveryId }: DeliveryResult,
): string | null {
  const { kind, secret } = simulation
  if (outcome === 'unmatched') return thenReplay(matchingSteps(simulation, reason ?? ''), deliveryId)
  if (outcome === 'stale') return 'Something newer was recorded before: send a later time with --at'
  if (status === 401) {
    return typeof secret === 'string'
      ? `Check the webhook secret: learnctl integrations test ${kind}`
      : `Check that the integration has this account and the public keys (rootAccountUuid, --jwks): learnctl integrations test ${kind}`
  }
  if (status === 429)
    return 'Wait for the time in Retry-After: there were too many refused deliveries in a minute, or too many deliveries in a day'
  if (status === 404) return `Set up the integration: learnctl integrations set ${kind}`
  return null
}

function matchingSteps({ kind, facts }: Simulation, reason: string): string {
  // The learner and the course are known, but there is no enrolment.
  if (reason.startsWith('enrollment')) return enrolStep
  const missing = [
    ...(reason.includes('course') ? [['course', facts.course] as const] : []),
    ...(reason.includes('learner') ? [['user', facts.user] as const] : []),
  ]
  const named = missing.filter(([, { by }]) => by !== 'id').map(([noun]) => `--${noun}`)
  const unmapped = missing.flatMap(([noun, { by, value }]) => (by === 'id' ? [[noun, value] as const] : []))
  const checks = named.length > 0 ? [`check ${named.join(' and ')}`] : []
  const maps = checks.length > 0 && unmapped.length === 0 ? [] : [mappingSteps(kind, unmapped)]
  return [...checks, ...maps].join(', ')
}
