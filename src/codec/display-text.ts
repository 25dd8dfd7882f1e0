const named: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** Scripts in which the joiners U+200C and U+200D are part of the spelling (RFC 5892 appendix A). */
const joining = [
  'Arab',
  'Syrc',
  'Mong',
  'Deva',
  'Beng',
  'Guru',
  'Gujr',
  'Orya',
  'Taml',
  'Telu',
  'Knda',
  'Mlym',
  'Sinh',
]
const letters = joining.map((script) => `\\p{Script=${script}}`).join('')

/** Joiners that are part of a word's spelling, or hold an emoji sequence together. */
const spelling = `(?<=[${letters}])[\\u200c\\u200d]|(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f])\\u200d(?=\\p{Extended_Pictographic})`
/** Invisible characters: zero-width ones, marks that change the direction of writing, and tags. */
const unseen =
  '\\u00ad\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb\\u{e0000}-\\u{e007f}'
/** Characters that a terminal acts on: C0, DEL and C1 controls, line separators, and lone surrogates. */
const obeyed = '\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029\\ud800-\\udfff'

const needsCare = new RegExp(`[${obeyed}${unseen}]`, 'u')
/** Compiled when first needed: its scripts take a millisecond, which every start would pay. */
let hidden: RegExp | null = null

function replaceHidden(
  text: string,
  shown: (character: string, kept: string | undefined, at: number) => string,
): string {
  if (!needsCare.test(text)) return text
  hidden ??= new RegExp(`(${spelling})|[${obeyed}${unseen}]`, 'gu')
  return text.replace(hidden, shown)
}

/** `\n`, `\x1b`, `\u202e`. */
export function escapeHidden(text: string): string {
  return replaceHidden(text, (character, kept) => {
    const code = character.charCodeAt(0)
    return kept ?? named[character] ?? (code < 0x100 ? `\\x${hex(code, 2)}` : unicodeEscape(character))
  })
}

/** Keeps line ends and tabs. JSON keeps its value, because each escape is one of JSON's (RFC 8259 §7). */
export function escapeHiddenInDocument(text: string): string {
  return replaceHidden(text, (character, kept, at) => {
    const ownLineEnd = character === '\n' || (character === '\r' && text[at + 1] === '\n')
    return kept ?? (ownLineEnd || character === '\t' ? character : unicodeEscape(character))
  })
}

function unicodeEscape(character: string): string {
  return character.split('').reduce((all, unit) => `${all}\\u${hex(unit.charCodeAt(0), 4)}`, '')
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0')
}

/** Shows invisible characters as `\\n` or `\\u202e`. */
export function lineOf(text: string, maxLength = 200): string {
  const characters = [...text.slice(0, 2 * maxLength + 2)]
  return escapeHidden(
    characters.length > maxLength ? `${characters.slice(0, maxLength - 1).join('')}…` : text,
  )
}

/** Quotes a text as one word of a POSIX shell's command line (XCU §2.2.2), unless it needs no quotes. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

/** Formats a whole number with commas between its thousands: `99,900`. */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',')
}
