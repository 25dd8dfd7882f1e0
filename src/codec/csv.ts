// One encoder for every CSV we write: the server's analytics and the command line's output.

const guarded = /^'*[=+\-@\t\r\n＝＋－＠]/
const quoted = /[",\r\n]/

/** A cell of text, a number, a truth value, or nothing. */
export type CsvValue = string | number | bigint | boolean | null

/**
 * One record of RFC 4180, CRLF included; null is an empty cell. Unless `raw`, a text that a spreadsheet would take
 * for a formula gets one more `'` in front (OWASP CSV Injection); numbers never do.
 *
 * @param plain the columns whose texts can hold nothing that needs care, such as ids and times
 */
export function csvRecord(values: readonly CsvValue[], raw: boolean, plain?: readonly boolean[]): string {
  let record = ''
  for (let index = 0; index < values.length; index += 1) {
    if (index > 0) record += ','
    const value = values[index] ?? null
    if (typeof value === 'string' && plain?.[index] !== true) record += csvText(value, raw)
    else if (value !== null) record += value
  }
  // A lone empty cell would be an empty line, which readers skip.
  return record === '' && values.length === 1 ? '""\r\n' : `${record}\r\n`
}

/** True when the guard puts a `'` in front of this text. */
export function isGuarded(text: string): boolean {
  return guarded.test(text)
}

/** A cell as it was before the guard. */
export function unguarded(cell: string): string {
  return cell.startsWith("'") && guarded.test(cell.slice(1)) ? cell.slice(1) : cell
}

/** A cell of text, with the guard where it needs one unless `raw`, and in quotes where RFC 4180 wants them. */
export function csvText(text: string, raw: boolean): string {
  // Most cells begin with a letter or a digit: telling that costs less than the pattern.
  const first = text.charCodeAt(0)
  const plain = (first > 47 && first < 58) || (first > 64 && first < 123)
  const safe = !raw && !plain && guarded.test(text) ? `'${text}` : text
  return quoted.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
