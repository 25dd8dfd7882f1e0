// A word from a request is as long as its sender likes; no known one is near that.
const longestWord = 64

/** The known words that `word` was probably meant to be, equally near all; at most three, usually one or none. */
export function nearest(word: string, known: readonly string[]): string[] {
  if (word.length > longestWord) return []
  const given = word.toLowerCase()
  const near = known.flatMap((candidate) => {
    const name = candidate.toLowerCase()
    const steps = distance(given, name)
    // Of a short word two letters are a third: that is another word.
    const close = steps <= (Math.min(given.length, name.length) < 8 ? 1 : 2)
    const longer = given.length >= 3 && name.startsWith(given)
    return close || longer ? [{ candidate, steps: longer ? Math.min(steps, 2) : steps }] : []
  })
  const best = Math.min(...near.map(({ steps }) => steps))
  return near.flatMap(({ candidate, steps }) => (steps === best ? [candidate] : [])).slice(0, 3)
}

/**
 * How many letters have to be inserted, dropped, changed or swapped with their neighbour (optimal string alignment):
 * swapping counts one, because it is what fingers do most.
 */
function distance(from: string, to: string): number {
  const rows: number[][] = [Array.from({ length: to.length + 1 }, (_, column) => column)]
  for (let row = 1; row <= from.length; row += 1) {
    const above = rows[row - 1] ?? []
    const current = [row]
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[row - 1] === to[column - 1]
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      current[column] = Math.min(
        (above[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (above[column - 1] ?? 0) + (same ? 0 : 1),
        swapped ? (rows[row - 2]?.[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      )
    }
    rows.push(current)
  }
  return rows.at(-1)?.at(-1) ?? to.length
}
