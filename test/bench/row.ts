/** A line of the result: a figure, its goal, and the measurements behind it. */
export interface BenchRow {
  readonly figure: string
  readonly value: number
  /** Unit; `ratio` compares with the yardstick. */
  readonly unit: 'ratio' | 'MiB' | 'MB' | 'ms' | 's' | 'rows/s'
  readonly goal: number
  /** Whether higher or lower is better. */
  readonly better: 'more' | 'less'
  readonly from: string
}

/** Goals of a figure: one that may be higher, and one that may be lower. */
export const atLeast = (goal: number, unit: BenchRow['unit'] = 'ratio') =>
  ({ unit, goal, better: 'more' }) as const
export const atMost = (goal: number, unit: BenchRow['unit'] = 'ratio') =>
  ({ unit, goal, better: 'less' }) as const

/** Formats rows as a table for a terminal or a note. */
export function tableOf(rows: readonly BenchRow[]): string {
  const cells = rows.map(({ figure, value, unit, goal, better, from }) => {
    const met = better === 'more' ? value >= goal : value <= goal
    const shown = unit === 'ratio' ? value.toFixed(2) : `${Math.round(value * 10) / 10} ${unit}`
    const wanted = `${better === 'more' ? '≥' : '≤'} ${goal}${unit === 'ratio' ? '' : ` ${unit}`}`
    return [figure, shown, wanted, met ? 'met' : 'missed', from]
  })
  const all = [['figure', 'measured', 'goal', '', 'from'], ...cells]
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
