// The one encoder of CSV: for the server's analytics and for the command line's output.

// A spreadsheet may separate cells by `;`, `|` or a tab where the file does not, so that a formula can start after it.
const placesOf = (guard: string) =>
  `^${guard}(?='*[=+\\-@\\t\\r\\n＝＋－＠])|(?<=[;|\\t])${guard}(?='*[=+\\-@＝＋－＠])`
const guardPlace = new RegExp(placesOf(''))
const guardPlaces = new RegExp(placesOf(''), 'g')
const guards = new RegExp(placesOf("'"), 'g')
const needsQuotes = /[",;|\t\r\n]/

/** Null is an empty cell. */
export type CsvValue = string | number | bigint | boolean | null

/**
 * Formats one record of RFC 4180 with its CRLF. Unless `raw`, what a spreadsheet would take for a
 * formula gets one more `'` in front (OWASP CSV Injection), at the start of a text and after `;`, `|` and tab in it;
 * numbers never do.
 *
 * @param plain columns that need neither guard nor quotes, such as ids and times
 * @param separator between cells; with a semicolon, numbers have a decimal comma, as spreadsheets that separate by it do
 */
export function csvRecord(
  values: readonly CsvValue[],
  raw: boolean,
  plain?: readonly boolean[],
  separator = ',',
): string {
  let record = ''
  for (let index = 0; index < values.length; index += 1) {
    if (index > 0) record += separator
    const value = values[index] ?? null
    if (typeof value === 'string' && plain?.[index] !== true) record += csvText(value, raw)
    else if (value !== null) record += separator === ';' ? withDecimalComma(value) : value
  }
  // A lone empty cell would be an empty line, which readers skip.
  return record === '' && values.length === 1 ? '""\r\n' : `${record}\r\n`
}

function withDecimalComma(value: NonNullable<CsvValue>): string {
  return typeof value === 'number' ? String(value).replace('.', ',') : String(value)
}

export function countGuards(cell: string): number {
  return cell.match(guards)?.length ?? 0
}

export function isGuarded(text: string): boolean {
  return !isPlain(text) && guardPlace.test(text)
}

/** Most cells begin with a letter or a digit, which is cheaper to test than the pattern. */
function isPlain(text: string): boolean {
  const first = text.charCodeAt(0)
  return ((first > 47 && first < 58) || (first > 64 && first < 123)) && !needsQuotes.test(text)
}

export function addGuard(text: string): string {
  return text.replace(guardPlaces, "'")
}

export function removeGuard(cell: string): string {
  return cell.includes("'") ? cell.replace(guards, '') : cell
}

/**
 * Formats a cell of text: guarded against formulas unless `raw`, and quoted where RFC 4180 requires it, also for a
 * reader with another separator.
 */
export function csvText(text: string, raw: boolean): string {
  if (isPlain(text)) return text
  const safe = raw ? text : addGuard(text)
  return needsQuotes.test(text) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Returns the separator: a comma, unless the header has more of another one outside quotes. */
export function separatorOf(header: string): string {
  const plain = header.replace(/"[^"]*"/g, '')
  const count = (separator: string) => plain.split(separator).length
  return [',', ';', '\t', '|'].reduce((best, each) => (count(each) > count(best) ? each : best))
}
