import sql, { raw, type Sql } from 'sql-template-tag'
import { type Database, type Searched, type Store, searched } from './database.ts'
import type { Found } from './page.ts'

/** Undefined for white space alone. `key` is the search key column. */
export function findMatches(
  { dialect }: Database,
  table: Searched,
  key: Sql,
  text: string,
): Found | undefined {
  const [needle, test] = [searchNeedle(text), matchesText(key, text)]
  if (needle === undefined || test === undefined) return undefined
  return { ...dialect.search.find(table, needle), test }
}

/** Searches look at fewer one by one. */
const fewRows = 64

/** Indexes the rows that were written since it was last called, where the database does not do that itself. */
export async function fillSearchIndex(database: Store): Promise<void> {
  const { fill } = database.dialect.search
  if (!fill) return
  for (const table of searched) {
    const waiting = await database.all(
      sql`select 1 from ${raw(table)} where search_number is null limit ${fewRows}`,
    )
    if (waiting.length < fewRows) continue
    while (await database.write((transaction) => fill(transaction, table)));
  }
}

/** Undefined for white space alone. */
export function matchesText(key: Sql, text: string): Sql | undefined {
  const needle = searchNeedle(text)
  return needle === undefined ? undefined : contains(key, needle)
}

/** `part` is in lower case. */
export function contains(text: Sql, part: string): Sql {
  return sql`${text} like ${`%${part.replace(/[\\%_]/g, '\\$&')}%`} escape '\\'`
}

interface SearchedUser {
  readonly email: string
  readonly username: string | null
  readonly profile: {
    readonly firstName?: string | null
    readonly lastName?: string | null
    readonly displayName?: string | null
  }
}

export function userSearchKey({ email, username, profile }: SearchedUser): string {
  const names = [profile.firstName, profile.lastName, profile.displayName].filter(Boolean)
  return searchKey([email, username, names.join(' ')])
}

export function courseSearchKey({ title, description }: { title: string; description: string }): string {
  return searchKey([title, description])
}

export function groupSearchKey({ name }: { name: string }): string {
  return searchKey([name])
}

export function titleKey({ title }: { title: string }): string {
  return sortKey(title)
}

/** These do not decompose into a base letter and a mark. */
const baseLetters: Readonly<Record<string, string>> = {
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

/** Without case and accents. Identical bytes for every engine. */
export function sortKey(text: string): string {
  const bare = text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
  return bare.replace(/[æđðıłøœßþ]/g, (letter) => baseLetters[letter] ?? letter).normalize('NFC')
}

/** Precedes each word of a search key twice, so that the first one or two characters of a word form a trigram with it. */
const mark = '\u0002'
const betweenTexts = '\u0001'
const marks = /[\u0001\u0002]/g

/** Without spaces: each character may begin a word. */
const unspaced =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}'
const wordStart = [
  '(?<![\\p{L}\\p{M}\\p{N}])(?=[\\p{L}\\p{N}])',
  '(?<=\\p{N})(?=\\p{L})',
  '(?<=\\p{L})(?=\\p{N})',
  `(?=(?!\\p{M})[${unspaced}])`,
  `(?<=[${unspaced}])(?=\\p{L})`,
].join('|')
/** Making it takes a millisecond, and most commands need none. */
let wordStarts: RegExp | undefined

function searchKey(texts: readonly (string | null | undefined)[]): string {
  return texts.flatMap((text) => (text ? [markWordStarts(text)] : [])).join(betweenTexts)
}

/**
 * Returns the text to look for in search keys: three or more characters match anywhere, one or two at the start of a
 * word. Undefined for white space alone.
 */
export function searchNeedle(text: string): string | undefined {
  const wanted = text.trim()
  if (wanted === '') return undefined
  // The match may follow any character, so the leading mark is dropped.
  const needle = markWordStarts(wanted).replace(/^\u0002+/, '')
  const missing = 3 - [...needle].length
  return missing > 0 ? mark.repeat(missing) + needle : needle
}

function markWordStarts(text: string): string {
  wordStarts ??= new RegExp(wordStart, 'gu')
  return text
    .normalize('NFC')
    .toLowerCase()
    .replace(marks, '')
    .replace(wordStarts, mark + mark)
}
