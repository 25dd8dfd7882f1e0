import { closest, distance } from 'fastest-levenshtein'

const longestWord = 64

/** The known word that `word` was probably meant to be, or undefined where none is close. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (known.length === 0 || word.length > longestWord) return undefined
  const best = closest(
    word.toLowerCase(),
    known.map((text) => text.toLowerCase()),
  )
  // Two letters changed places count as two.
  const limit = word.length < 4 ? 1 : Math.max(2, Math.floor(word.length / 3))
  const near = distance(word.toLowerCase(), best) <= limit
  return near ? known.find((text) => text.toLowerCase() === best) : undefined
}
