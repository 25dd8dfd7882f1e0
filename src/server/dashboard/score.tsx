import type { Grade } from '../../contract/grades.ts'
import { percent } from './value-text.tsx'

/** A grade in per cent, and as it was given where that is something else. */
export function Score({
  grade,
  base,
}: {
  grade: Grade | undefined
  /** The address that the dashboard is below; then the score leads to its page. */
  base?: string
}) {
  if (!grade) return <span class="none">–</span>
  const { scoreGiven, scoreMaximum, published } = grade
  const score = scoreGiven === null ? 'Cleared' : percent(grade.percent)
  const linked =
    base === undefined ? (
      score
    ) : (
      <a href={`${base}/dashboard/grades/${encodeURIComponent(grade.id)}`}>{score}</a>
    )
  if (scoreGiven === null) return <span class="none">{linked}</span>
  return (
    <>
      {linked}
      {scoreMaximum === 100 ? null : (
        <small>{`${scoreText(scoreGiven)} of ${scoreText(scoreMaximum)}`}</small>
      )}
      {published ? null : <small>Not published</small>}
    </>
  )
}

const decimal = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 4 })

/** A score as it was given, to four decimals. */
export function scoreText(value: number): string {
  return decimal.format(value)
}
