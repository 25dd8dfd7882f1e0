/** A shell line up to the cursor, parsed without evaluating anything. */
export interface TypedLine {
  /** Unquoted words of the last simple command, without the one at the cursor. */
  readonly words: readonly string[]
  /** The word at the cursor as typed; empty after a space. */
  readonly raw: string
  readonly current: string
  /** The quote that is open at the cursor, and its position in `raw`. */
  readonly quote: { readonly mark: '"' | "'"; readonly at: number } | null
  /** True if the word is a file, after `<` or `>`. */
  readonly isRedirection: boolean
}

interface Word {
  raw: string
  text: string
  quote: TypedLine['quote']
}

const empty = (): Word => ({ raw: '', text: '', quote: null })

/**
 * Splits a line into words by the quoting of POSIX shells (XCU §2.2); fish differs in escapes within single
 * quotes. Expansions are left as typed.
 */
export function readTypedLine(line: string, escapesInSingle = false): TypedLine {
  let words: string[] = []
  let word: Word | null = null
  let redirects = false
  let isFile = false

  function endWord(): void {
    if (word && !isFile) words.push(word.text)
    if (word) isFile = false
    word = null
  }

  for (let at = 0; at < line.length; at += 1) {
    const character = line[at] ?? ''
    const { quote } = word ?? empty()
    if (!quote && /\s/.test(character)) {
      endWord()
    } else if (!quote && /[<>]/.test(character)) {
      // A digit before a redirection is a file descriptor.
      if (word && /^\d$/.test(word.raw)) word = null
      endWord()
      isFile = true
    } else if (!quote && /[|;&]/.test(character)) {
      endWord()
      words = []
    } else {
      word ??= empty()
      at += consume(word, line, at, escapesInSingle)
    }
    redirects = isFile
  }
  const { raw, text, quote } = word ?? empty()
  return { words, raw, current: text, quote, isRedirection: redirects }
}

/**
 * Adds the character or quoted part at an index to a word; returns how many further characters it consumed.
 */
function consume(word: Word, line: string, at: number, escapesInSingle: boolean): number {
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
