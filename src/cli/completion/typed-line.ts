/** A line of a shell up to the cursor, as far as a program may understand it that runs nothing. */
export interface TypedLine {
  /** The words of the last simple command before the one at the cursor, without their quotes. */
  readonly words: readonly string[]
  /** The word at the cursor as it was typed, and without its quotes; empty after a space. */
  readonly raw: string
  readonly current: string
  /** The quote that is still open at the cursor, with where it begins in `raw`. */
  readonly quote: { readonly mark: '"' | "'"; readonly at: number } | null
  /** True where a file follows, behind `<` or `>`. */
  readonly isRedirection: boolean
}

interface Word {
  raw: string
  text: string
  quote: TypedLine['quote']
}

const empty = (): Word => ({ raw: '', text: '', quote: null })

/**
 * Splits a line into words by the quotes of POSIX shells (XCU §2.2), which fish shares but for escapes in single quotes.
 * Expansions stay as they were typed: nothing is evaluated.
 */
export function readTypedLine(line: string, escapesInSingle = false): TypedLine {
  let words: string[] = []
  let word: Word | null = null
  let redirects = false
  let isFile = false

  function end(): void {
    if (word && !isFile) words.push(word.text)
    if (word) isFile = false
    word = null
  }

  for (let at = 0; at < line.length; at += 1) {
    const character = line[at] ?? ''
    const { quote } = word ?? empty()
    if (!quote && /\s/.test(character)) {
      end()
    } else if (!quote && /[<>]/.test(character)) {
      // A number before it is the stream that it is about.
      if (word && /^\d$/.test(word.raw)) word = null
      end()
      isFile = true
    } else if (!quote && /[|;&]/.test(character)) {
      end()
      words = []
    } else {
      word ??= empty()
      at += take(word, line, at, escapesInSingle)
    }
    redirects = isFile
  }
  const { raw, text, quote } = word ?? empty()
  return { words, raw, current: text, quote, isRedirection: redirects }
}

/** Adds what stands at a place of the line to a word; gives how many characters it took beyond the first. */
function take(word: Word, line: string, at: number, escapesInSingle: boolean): number {
  const character = line[at] ?? ''
  const next = line[at + 1]
  const { quote } = word
  if (quote && character === quote.mark) {
    word.raw += character
    word.quote = null
    return 0
  }
  if (!quote && (character === '"' || character === "'")) {
    word.quote = { mark: character, at: word.raw.length }
    word.raw += character
    return 0
  }
  const escapes = !quote || quote.mark === '"' || escapesInSingle
  const escapable = !quote || (quote.mark === '"' ? /["\\$`]/ : /['\\]/).test(next ?? '')
  if (character === '\\' && escapes && escapable && next !== undefined) {
    word.raw += character + next
    word.text += next
    return 1
  }
  word.raw += character
  word.text += character
  return 0
}
