/** The most points of a score, and of its maximum. */
export const largestScore = 1_000_000

/** So many times its maximum a score may be: sums of grades in millionths of a per cent stay exact. */
export const mostOverMaximum = 100

/** Smallest score above 0: a smaller one would leave the range of a double when it is divided by its maximum. */
const minScore = 1e-9

/** Why a score is no grade. */
export const notGradable = `must be 0, or from ${minScore} to ${mostOverMaximum} times the maximum`

/** True for a score that can be a grade: neither too small to calculate with nor too far above its maximum. */
export function isGradable(score: number, maximum: number): boolean {
  return (score === 0 || score >= minScore) && score <= maximum * mostOverMaximum
}

/** Says that a score needs to be extra credit; continues the name of the field. */
export function aboveMaximum(maximum: number): string {
  return `must be at most the maximum, ${maximum}, unless it is extra credit`
}
