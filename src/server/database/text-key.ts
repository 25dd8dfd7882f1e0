/** Letters that are no other letter with a mark, and after what they sort. */
const spelled: Readonly<Record<string, string>> = {
  æ: 'ae',
  đ: 'd',
  ð: 'd',
  ı: 'i',
  ł: 'l',
  ø: 'o',
  œ: 'oe',
  ß: 'ss',
  þ: 'th',
}

/** What a text is sorted by: neither case nor accents tell texts apart. The same text for every engine, byte by byte. */
export function sortKey(text: string): string {
  const bare = text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
  return bare.replace(/[æđðıłøœßþ]/g, (letter) => spelled[letter] ?? letter).normalize('NFC')
}

/** Stands twice before each word of a search key, so that a word's first one or two characters are three with it. */
const mark = '\u0002'
const betweenTexts = '\u0001'
const marks = /[\u0001\u0002]/g

/** Scripts that are written without spaces: each character may begin a word. */
const unspaced =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}'
const beginnings = new RegExp(
  [
    '(?<![\\p{L}\\p{M}\\p{N}])(?=[\\p{L}\\p{N}])',
    '(?<=\\p{N})(?=\\p{L})',
    '(?<=\\p{L})(?=\\p{N})',
    `(?=(?!\\p{M})[${unspaced}])`,
    `(?<=[${unspaced}])(?=\\p{L})`,
  ].join('|'),
  'gu',
)

/** What a row is searched by: its texts without regard to case, with a mark where a word begins. */
export function searchKey(texts: readonly (string | null | undefined)[]): string {
  return texts.flatMap((text) => (text ? [marked(text)] : [])).join(betweenTexts)
}

/**
 * What to look for in search keys: three characters or more are found anywhere in a text, one or two where a word
 * begins. Undefined for nothing but white space.
 */
export function searchNeedle(text: string): string | undefined {
  const wanted = text.trim()
  if (wanted === '') return undefined
  // What stands before the text that is looked for, nobody knows.
  const needle = marked(wanted).replace(/^\u0002+/, '')
  const missing = 3 - [...needle].length
  return missing > 0 ? mark.repeat(missing) + needle : needle
}

function marked(text: string): string {
  return text
    .normalize('NFC')
    .toLowerCase()
    .replace(marks, '')
    .replace(beginnings, mark + mark)
}
