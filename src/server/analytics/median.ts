import type { Step } from '../counters/standings.ts'
import { ofMillionths } from '../counters/tally.ts'

/**
 * The percentage in the middle of those at these steps, or null where nobody is at any. Within a hundredth of a per cent
 * it is the mean of those who stand there.
 */
export function medianOf(steps: readonly Step[]): number | null {
  const count = steps.reduce((sum, { learners }) => sum + learners, 0)
  if (count === 0) return null
  const [low, high] = [Math.floor((count - 1) / 2), Math.floor(count / 2)].map((place) =>
    valueAt(steps, place),
  )
  return ((low ?? 0) + (high ?? 0)) / 2
}

/** The percentage of whoever is at a place, from 0. */
function valueAt(steps: readonly Step[], place: number): number {
  let before = 0
  for (const { learners, amount } of steps) {
    before += learners
    if (place < before) return ofMillionths(amount) / learners
  }
  return 0
}

/** How many of those at these steps are at 0–9%, 10–19% … 90–100%. */
export function tenthsOf(steps: readonly Step[]): number[] {
  const tenths = Array.from({ length: 10 }, () => 0)
  for (const { hundredths, learners } of steps) {
    const tenth = Math.min(9, Math.floor(hundredths / 1000))
    tenths[tenth] = (tenths[tenth] ?? 0) + learners
  }
  return tenths
}
