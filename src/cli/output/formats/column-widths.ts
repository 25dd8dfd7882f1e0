/** What is known of a column when its place in a table is looked for. */
export interface ColumnFacts {
  /** The width that its widest value takes, and its head. */
  readonly natural: number
  /** What it needs to be readable. */
  readonly least: number
  /** True where half a value is of no use: ids, instants. */
  readonly whole: boolean
  /** True for what commands take to name a thing. */
  readonly id: boolean
  /** True where every row has a value. */
  readonly full: boolean
  /** True where no row has a value. */
  readonly empty: boolean
}

/** Columns of space between two columns. */
export const gap = 2
/** Below this a text says nothing any more. */
const narrowest = 8

/**
 * The width of each column in a terminal of `width`, without gaps; null for one that has no room. The first two that
 * have values are what a row is about; then ids are given room, those that every row has first, then the others in
 * their order, then those that are empty. Texts share what is left. With `keepAll` every column stays, and lines become
 * longer than the terminal before an id is cut.
 */
export function fitColumns(
  columns: readonly ColumnFacts[],
  width: number,
  keepAll: boolean,
): (number | null)[] {
  const indexes = columns.map((_, index) => index)
  const leading = indexes.filter((index) => columns[index]?.empty === false).slice(0, 2)
  const rank = (index: number) => {
    const column = columns[index]
    if (leading.includes(index)) return 0
    if (column?.empty) return 4
    if (column?.id) return column.full ? 1 : 2
    return 3
  }
  let room = width + gap
  let cut = false
  const shown = indexes
    .toSorted((one, other) => rank(one) - rank(other))
    .filter((index, place) => {
      const needed = (columns[index]?.least ?? 0) + gap
      // A column of nothing does not take the place of one that has values.
      const hides = place > 0 && (needed > room || (cut && columns[index]?.empty))
      if (!keepAll && hides) {
        cut = true
        return false
      }
      room -= needed
      return true
    })
  const widths = columns.map(({ natural }, index) => (shown.includes(index) ? natural : null))
  const texts = shown.filter((index) => !columns[index]?.whole)
  const total = () => widths.reduce<number>((sum, each) => sum + (each === null ? 0 : each + gap), -gap)
  for (let excess = total() - width; excess > 0; excess -= 1) {
    const widest = texts.reduce(
      (best, index) => ((widths[index] ?? 0) > (widths[best] ?? 0) ? index : best),
      -1,
    )
    const current = widths[widest]
    if (current === null || current === undefined || current <= narrowest) break
    widths[widest] = current - 1
  }
  return widths
}
