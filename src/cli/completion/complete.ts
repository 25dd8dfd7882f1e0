import { escapeHidden } from '../../codec/display-text.ts'
import { settings, variableOf } from '../../config/setting.ts'
import type { Host, Noun } from '../command/command.ts'
import { type Io, write, writeStderr } from '../terminal/io.ts'
import { parseWords, type Suggestion, type Suggestions, suggest } from './suggestions.ts'

/** `argv` is the shell and the line or its words. Prints nothing on errors, which would disturb the user who is typing. */
export async function complete(
  argv: readonly string[],
  io: Io,
  nouns: Readonly<Record<string, Noun>>,
): Promise<void> {
  try {
    const [shell, ...rest] = argv
    const line = parseTypedLine(shell, rest)
    if (line.isRedirection) return await write(io.stdout, 'files\n')
    const place = await parseWords(line.words, nouns, inertHost)
    if (place === null) return
    const found = await suggest(place, line.current, { nouns, io })
    await write(io.stdout, formatSuggestions(shell, line, rest, found))
  } catch (error) {
    if (io.env[variableOf(settings.debug)]) await writeStderr(io, `debug: ${escapeHidden(String(error))}\n`)
  }
}

const inertHost: Host = {
  helpOf: async () => null,
  commandsAt: async () => null,
  manual: async () => '',
  runLine: async () => {},
  parseLine: async () => Promise.reject(new TypeError('completion runs no command')),
  runApart: async () => 0,
}

function parseTypedLine(shell: string | undefined, [line = '', ...more]: readonly string[]): TypedLine {
  if (shell === 'bash' || shell === 'fish') {
    const read = readTypedLine(line, shell === 'fish')
    // The first word is the program.
    return { ...read, words: read.words.slice(1) }
  }
  const all = [line, ...more]
  const words = shell === 'powershell' ? all.map((word) => powershellText(word.replace(/^=/, ''))) : all
  const current = words.pop() ?? ''
  return { words, current, raw: current, quote: null, isRedirection: false }
}

const maxMeaningLength = 60

function formatSuggestions(
  shell: string | undefined,
  line: TypedLine,
  rest: readonly string[],
  { found, files, isOpen }: Suggestions,
): string {
  const kind = files ? 'files' : isOpen ? 'nospace' : 'words'
  // Others would have to be quoted.
  const plain = found.filter(({ value }) => /^[\w@%+=:,./-]+$/.test(value))
  const lines = plain.flatMap((each) => lineOf(shell, each, line, rest, plain.length > 1))
  return `${[kind, ...lines].join('\n')}\n`
}

function lineOf(
  shell: string | undefined,
  { value, meaning }: Suggestion,
  line: TypedLine,
  [, breaks = '', type = '']: readonly string[],
  several: boolean,
): string[] {
  const shown = shorten(escapeHidden(meaning).trim())
  switch (shell) {
    case 'bash': {
      const text = bashReplacement(value, line, breaks)
      if (text === null) return []
      // bash only lists the candidates in this case and inserts nothing.
      const isListing = type === `${'?'.charCodeAt(0)}`
      return [isListing && several && shown !== '' ? `${text}  (${shown})` : text]
    }
    case 'zsh':
      return [`${value.replaceAll(':', '\\:')}${shown === '' ? '' : `:${shown}`}`]
    case 'powershell':
      return [`${powershellWord(value)}\t${shown}`]
    default:
      return [shown === '' ? value : `${value}\t${shown}`]
  }
}

function shorten(text: string): string {
  const characters = [...text]
  return characters.length <= maxMeaningLength
    ? text
    : `${characters.slice(0, maxMeaningLength - 1).join('')}…`
}

/** Null if no text does. Bash replaces what follows the open quote, or else the last of its `COMP_WORDBREAKS`. */
function bashReplacement(value: string, { raw, current, quote }: TypedLine, breaks: string): string | null {
  const length = quote ? current.length - (raw.length - quote.at - 1) : keptLength(raw, breaks)
  const kept = current.slice(0, length)
  return value.startsWith(kept) ? value.slice(kept.length) : null
}

function keptLength(raw: string, breaks: string): number {
  let [kept, length] = [0, 0]
  for (const [part] of raw.matchAll(/\\?[\s\S]/g)) {
    if (!/^["']$/.test(part)) length += 1
    // $ and @ belong to the word that they begin (readline's special prefixes).
    if (breaks.includes(part)) kept = /[$@]/.test(part) ? length - 1 : length
  }
  return kept
}

function powershellWord(value: string): string {
  return /^[\w.:/-][\w.:/=+%-]*$/.test(value) ? value : `'${value}'`
}

function powershellText(word: string): string {
  const [, mark, inside = ''] = /^(["'])(.*?)\1?$/s.exec(word) ?? []
  if (mark === undefined) return word.replaceAll(/`(.)/gs, '$1')
  return mark === '"'
    ? inside.replaceAll(/`(.)|""/gs, (_, escaped) => escaped ?? '"')
    : inside.replaceAll("''", "'")
}

/** A shell line up to the cursor, parsed without evaluating anything. */
interface TypedLine {
  /** Unquoted words of the last simple command, without the one at the cursor. */
  readonly words: readonly string[]
  /** The word at the cursor as typed; empty after a space. */
  readonly raw: string
  readonly current: string
  /** An open quote; `at` is its position in `raw`. */
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
function readTypedLine(line: string, escapesInSingle = false): TypedLine {
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

/** Returns how many further characters it consumed. */
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
