import type { Step } from '../counters/standings.ts'
import { ofMillionths } from '../counters/tally.ts'

/**
 * Returns the median percentage of the learners at these steps; null without learners. Within a step (a hundredth of
 * a per cent) the mean of the step's learners is used.
 */
export function medianOf(steps: readonly Step[]): number | null {
  const count = steps.reduce((sum, { learners }) => sum + learners, 0)
  if (count === 0) return null
  const [low, high] = [Math.floor((count - 1) / 2), Math.floor(count / 2)].map((place) =>
    valueAt(steps, place),
  )
  return ((low ?? 0) + (high ?? 0)) / 2
}

/** Returns the percentage of the learner at an index. */
function valueAt(steps: readonly Step[], place: number): number {
  let before = 0
  for (const { learners, amount } of steps) {
    before += learners
    if (place < before) return ofMillionths(amount) / learners
  }
  return 0
}

/** Counts the learners at 0–9%, 10–19% … 90–100%. */
export function tenthsOf(steps: readonly Step[]): number[] {
  const tenths = Array.from({ length: 10 }, () => 0)
  for (const { hundredths, learners } of steps) {
    const tenth = Math.min(9, Math.floor(hundredths / 1000))
    tenths[tenth] = (tenths[tenth] ?? 0) + learners
  }
  return tenths
}
