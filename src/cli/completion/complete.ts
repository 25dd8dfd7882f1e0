import { visible } from '../../codec/visible.ts'
import { settings } from '../../config/setting.ts'
import type { Noun } from '../command/noun.ts'
import type { Transports } from '../session/session.ts'
import type { Shell } from '../shell/scripts.ts'
import { type Io, say, write } from '../terminal/io.ts'
import { placeOf } from './place.ts'
import { bashReplacement, powershellText, powershellWord } from './replacement.ts'
import { type FindThings, type Suggestion, type Suggestions, suggest } from './suggestions.ts'
import { readTypedLine, type TypedLine } from './typed-line.ts'

/**
 * Prints what may follow on a line, for the script of a shell. `argv` is what the script hands over: the shell, then the
 * line or its words. A fault prints nothing: nobody wants to read one while typing.
 */
export async function complete(
  argv: readonly string[],
  io: Io,
  nouns: Readonly<Record<string, Noun>>,
  transports: () => Promise<Transports>,
): Promise<void> {
  try {
    const [shell, ...rest] = argv
    const line = typedIn(shell, rest)
    if (line.isRedirection) return await write(io.stdout, 'files\n')
    const host = { helpOf: async () => null, manual: async () => '', runLine: async () => {} }
    const place = await placeOf(line.words, nouns, host)
    if (place === null) return
    const find: FindThings = async (...asked) =>
      (await import('./find-things.ts')).findThings(io, transports, ...asked)
    const found = await suggest(place, line.current, { nouns, find, cwd: io.cwd })
    await write(io.stdout, answer(shell, line, rest, found))
  } catch (error) {
    if (io.env[settings.debug.variable]) await say(io, `debug: ${visible(String(error))}\n`)
  }
}

function typedIn(shell: string | undefined, [line = '', ...more]: readonly string[]): TypedLine {
  if (shell === 'bash' || shell === 'fish') {
    const read = readTypedLine(line, shell === 'fish')
    // The first word is the program itself.
    return { ...read, words: read.words.slice(1) }
  }
  const all = [line, ...more]
  const words = shell === 'powershell' ? all.map((word) => powershellText(word.replace(/^=/, ''))) : all
  const current = words.pop() ?? ''
  return { words, current, raw: current, quote: null, isRedirection: false }
}

/** How much of a meaning is shown beside a word. */
const maximumMeaning = 60

function answer(
  shell: string | undefined,
  line: TypedLine,
  rest: readonly string[],
  { found, files, isOpen }: Suggestions,
): string {
  const kind = files ? 'files' : isOpen ? 'nospace' : 'words'
  // A name that a terminal would obey or hide can be neither shown nor typed.
  const plain = found.filter(({ value }) => visible(value) === value)
  const lines = plain.flatMap((each) => lineOf(shell as Shell, each, line, rest, plain.length > 1))
  return `${[kind, ...lines].join('\n')}\n`
}

function lineOf(
  shell: Shell,
  { value, meaning }: Suggestion,
  line: TypedLine,
  [, breaks = '', type = '']: readonly string[],
  several: boolean,
): string[] {
  const shown = shorten(visible(meaning).trim())
  switch (shell) {
    case 'bash': {
      const text = bashReplacement(value, line, breaks)
      if (text === null) return []
      // When it lists what is possible, and only then, bash inserts nothing.
      const isListing = type === `${'?'.charCodeAt(0)}`
      return [isListing && several && shown !== '' ? `${text}  (${shown})` : text]
    }
    case 'zsh':
      return [`${value.replaceAll(/[\\:]/g, '\\$&')}${shown === '' ? '' : `:${shown}`}`]
    case 'powershell':
      return [`${powershellWord(value)}\t${shown}`]
    default:
      return [shown === '' ? value : `${value}\t${shown}`]
  }
}

function shorten(text: string): string {
  const characters = [...text]
  return characters.length <= maximumMeaning ? text : `${characters.slice(0, maximumMeaning - 1).join('')}…`
}
