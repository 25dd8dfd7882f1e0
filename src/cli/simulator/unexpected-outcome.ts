import { enrolStep, mappingSteps, thenReplay } from '../command/mapping-steps.ts'
import { CommandError } from '../terminal/errors.ts'
import type { ExitName } from '../terminal/exit-codes.ts'
import type { Outcome } from './choices.ts'
import type { DeliveryAnswer } from './delivery-answer.ts'
import type { Tally } from './expectation.ts'
import type { Simulation } from './simulation.ts'

/** A run of deliveries. */
interface Run {
  readonly total: number
  readonly expected: readonly Outcome[]
  /** The exit code that a status stands for. */
  readonly exits: Readonly<Record<number, ExitName>>
}

/** The error of a run in which not all outcomes were expected: what the first of them was, and what to do about it. */
export function unexpectedOutcome(
  simulation: Simulation,
  tally: Tally,
  first: DeliveryAnswer,
  { total, expected, exits }: Run,
): CommandError {
  const { outcome, reason, status } = first
  const some = tally.unexpected < total
  const exit = some ? 'partial' : status < 400 ? 'failure' : (exits[status] ?? 'failure')
  const told = `${outcome} (${status})${reason === null ? '' : `: ${reason}`}`
  const message =
    total === 1
      ? `Unexpected outcome: ${told}`
      : `${tally.unexpected} of ${total} outcomes were unexpected; the first was ${told}`
  const hint = hintFor(simulation, first)
  return new CommandError('unexpected_outcome', exit, message, {
    why: [`Expected ${expected.join(' or ')}`],
    ...(hint !== null && { hint }),
  })
}

function hintFor(
  simulation: Simulation,
  { outcome, status, reason, deliveryId }: DeliveryAnswer,
): string | null {
  const { kind, secret } = simulation
  if (outcome === 'unmatched') return thenReplay(matching(simulation, reason ?? ''), deliveryId)
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

/** How what was not found is made known. */
function matching({ kind, facts }: Simulation, reason: string): string {
  // A learner without an enrolment is known, and so is the course.
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
