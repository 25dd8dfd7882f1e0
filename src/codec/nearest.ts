// A request can contain a word of any length; every known word is shorter than this.
const maxWordLength = 64

/** Returns the known words nearest to `word`, for "did you mean": at most three, all equally near. */
export function findNearest(word: string, known: readonly string[]): string[] {
  if (word.length > maxWordLength) return []
  const given = word.toLowerCase()
  const near = known.flatMap((candidate) => {
    const name = candidate.toLowerCase()
    const steps = distance(given, name)
    // In a short word, two letters are a third of it.
    const close = steps <= (Math.min(given.length, name.length) < 8 ? 1 : 2)
    const longer = given.length >= 3 && name.startsWith(given)
    return close || longer ? [{ candidate, steps: longer ? Math.min(steps, 2) : steps }] : []
  })
  const best = Math.min(...near.map(({ steps }) => steps))
  return near.flatMap(({ candidate, steps }) => (steps === best ? [candidate] : [])).slice(0, 3)
}

/**
 * Counts the letters to insert, delete, change or swap with their neighbour (optimal string alignment). A
 * swap counts as one, as the commonest typing error.
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
