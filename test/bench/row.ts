/** One line of the result: a figure, its goal, and what it was measured from. */
export interface BenchRow {
  readonly figure: string
  readonly value: number
  /** `ratio` is side by side with the yardstick; else the unit. */
  readonly unit: 'ratio' | 'MiB' | 'ms'
  readonly goal: number
  /** Whether more or less is better. */
  readonly better: 'more' | 'less'
  readonly from: string
}

/** The rows as a table for a terminal or a note. */
export function table(rows: readonly BenchRow[]): string {
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
