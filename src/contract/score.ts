/** Maximum of a score, and of its maximum score. */
export const largestScore = 1_000_000

/** Maximum ratio of a score to its maximum: sums of grades in millionths of a per cent stay exact. */
export const mostOverMaximum = 100

/** Smallest score above 0: a smaller one would leave the range of a double when it is divided by its maximum. */
const minScore = 1e-9

/** Error for a score that cannot be a grade. */
export const notGradable = `must be 0, or from ${minScore} to ${mostOverMaximum} times the maximum`

/** True for a score that can be a grade: not too small to calculate with, and not too far above its maximum. */
export function isGradable(score: number, maximum: number): boolean {
  return (score === 0 || score >= minScore) && score <= maximum * mostOverMaximum
}

/** Returns the error for a score that requires extra credit; it continues the name of the field. */
export function aboveMaximum(maximum: number): string {
  return `must be at most the maximum, ${maximum}, unless it is extra credit`
}
