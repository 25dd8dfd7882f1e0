import type { Grade } from '../../contract/grades.ts'
import { percent } from './value-text.tsx'

/** A grade in per cent, and as it was given where that is something else. */
export function Score({ grade }: { grade: Grade | undefined }) {
  if (!grade) return <span class="none">–</span>
  const { scoreGiven, scoreMaximum, published } = grade
  if (scoreGiven === null) return <span class="none">Cleared</span>
  return (
    <>
      {percent(grade.percent)}
      {scoreMaximum === 100 ? null : (
        <small>{`${scoreText(scoreGiven)} of ${scoreText(scoreMaximum)}`}</small>
      )}
      {published ? null : <small>Not published</small>}
    </>
  )
}

const score = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 4 })

/** A score as it was given, to four decimals. */
export function scoreText(value: number): string {
  return score.format(value)
}
