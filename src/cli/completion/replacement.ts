import type { TypedLine } from './typed-line.ts'

/**
 * What bash puts in the place of the end of a word so that the word becomes `value`; null where no text would. Bash
 * replaces what stands behind the quote that is open, else behind the last of its `COMP_WORDBREAKS`.
 */
export function bashReplacement(
  value: string,
  { raw, current, quote }: TypedLine,
  breaks: string,
): string | null {
  if (quote) return insideQuote(value, current, raw.slice(quote.at + 1), quote.mark)
  const kept = current.slice(0, keptLength(raw, breaks))
  return value.startsWith(kept) ? escaped(value.slice(kept.length), kept === '') : null
}

/** How many characters of the word without its quotes stand before what bash replaces. */
function keptLength(raw: string, breaks: string): number {
  let [kept, length] = [0, 0]
  for (const [part] of raw.matchAll(/\\?[\s\S]/g)) {
    if (!/^["']$/.test(part)) length += 1
    // These two belong to the word that they begin (readline's special prefixes).
    if (breaks.includes(part)) kept = /[$@]/.test(part) ? length - 1 : length
  }
  return kept
}

/** The rest of a word whose quote is open; what cannot stand in such a quote is null. */
function insideQuote(value: string, current: string, typed: string, mark: '"' | "'"): string | null {
  const inside = mark === '"' ? typed.replaceAll(/\\(["\\$`])/g, '$1') : typed
  const kept = current.slice(0, current.length - inside.length)
  if (!value.startsWith(kept)) return null
  const rest = value.slice(kept.length)
  // The history is expanded in double quotes, and no escape prevents that without staying in the word.
  if (mark === "'" ? rest.includes("'") : rest.includes('!')) return null
  return mark === "'" ? rest : rest.replaceAll(/["\\$`]/g, '\\$&')
}

/** The text with a backslash before everything that means something to a POSIX shell. */
function escaped(text: string, isStart: boolean): string {
  const quoted = text.replaceAll(/[^\w@%+=:,./\-\u0080-\u{10ffff}]/gu, '\\$&')
  return isStart ? quoted.replace(/^=/, '\\=') : quoted
}

/** The value as a word of PowerShell: single quotes, of which Unicode has several, are doubled in themselves. */
export function powershellWord(value: string): string {
  return /^[\w.:/\\-][\w.:/\\=,+%-]*$/.test(value) && !value.includes(',')
    ? value
    : `'${value.replaceAll(/['\u2018-\u201b]/g, '$&$&')}'`
}

/** The text of a word of PowerShell as it stands in the source. */
export function powershellText(word: string): string {
  const [, mark, inside = ''] = /^(["'])(.*?)\1?$/s.exec(word) ?? []
  if (mark === undefined) return word.replaceAll(/`(.)/gs, '$1')
  return mark === '"'
    ? inside.replaceAll(/`(.)|""/gs, (_, escaped) => escaped ?? '"')
    : inside.replaceAll("''", "'")
}
