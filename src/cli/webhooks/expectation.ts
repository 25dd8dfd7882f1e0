import { CommandError, type ExitName, UsageError } from '../terminal/errors.ts'
import { enrolStep, mappingSteps, thenReplay } from './next-steps.ts'
import type { DeliveryResult } from './send-delivery.ts'
import type { Simulation } from './simulation.ts'
import { type Outcome, outcomes } from './simulation-choices.ts'

/** Throws a UsageError on an unknown outcome. */
export function expectedOutcome(given: string | undefined): Outcome {
  if (given === undefined) return 'applied'
  const known = outcomes.find((each) => each === given)
  if (known) return known
  throw new UsageError(`--expect must be one of ${outcomes.join(', ')}, not ${JSON.stringify(given)}`, {
    choice: { given, valid: outcomes },
  })
}

/** Says an unexpected outcome, and what to do. */
export function unexpectedOutcome(
  simulation: Simulation,
  result: DeliveryResult,
  expected: Outcome,
  exits: Readonly<Record<number, ExitName>>,
): CommandError {
  const { outcome, reason, status } = result
  const exit = status < 400 ? 'failure' : (exits[status] ?? 'failure')
  const hint = hintFor(simulation, result)
  return new CommandError(
    'unexpected_outcome',
    exit,
    `Unexpected outcome: ${outcome} (${status})${reason === null ? '' : `: ${reason}`}`,
    { why: [`Expected ${expected}`], ...(hint !== null && { hint }) },
  )
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
      : `Check that the integration has this account and the public keys (--root-account-uuid, --jwks): learnctl integrations test ${kind}`
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
