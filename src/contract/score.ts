/** The most points of a score, and of its maximum. */
export const largestScore = 1_000_000

/** So many times its maximum a score may be: sums of grades in millionths of a per cent stay exact. */
export const mostOverMaximum = 100

/** True for a score that is not too far above its maximum to be a grade. */
export function isGradable(score: number, maximum: number): boolean {
  return score <= maximum * mostOverMaximum
}
