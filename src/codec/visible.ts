const named: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** Scripts whose letters join: there the two joiners, U+200C and U+200D, are spelling (RFC 5892 appendix A). */
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

/** Joiners that spell a word, or hold an emoji of several together. */
const spelling = `(?<=[${letters}])[\\u200c\\u200d]|(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f])\\u200d(?=\\p{Extended_Pictographic})`
/** Zero-width characters, the marks that turn the direction of writing around, and tags: nothing of them is seen. */
const unseen =
  '\\u00ad\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb\\u{e0000}-\\u{e007f}'
/** C0, DEL and C1 controls, line separators, and halves of a pair of surrogates. */
const obeyed = '\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029\\ud800-\\udfff'

const needsCare = new RegExp(`[${obeyed}${unseen}]`, 'u')
/** Made for the first text that needs it: the scripts in it take a millisecond, which every start would pay. */
let hidden: RegExp | null = null

function replaceHidden(
  text: string,
  shown: (character: string, kept: string | undefined, at: number) => string,
): string {
  if (!needsCare.test(text)) return text
  hidden ??= new RegExp(`(${spelling})|[${obeyed}${unseen}]`, 'gu')
  return text.replace(hidden, shown)
}

/** The text with every character shown that a terminal would obey or hide: `\n`, `\x1b`, `\u202e`. */
export function visible(text: string): string {
  return replaceHidden(text, (character, kept) => {
    const code = character.charCodeAt(0)
    return kept ?? named[character] ?? (code < 0x100 ? `\\x${hex(code, 2)}` : unicodeEscape(character))
  })
}

/**
 * The same for a whole document, whose line ends and tabs are its own. JSON keeps its value: each escape is one of
 * JSON's (RFC 8259 §7).
 */
export function visibleDocument(text: string): string {
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
