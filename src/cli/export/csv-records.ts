import { CommandError } from '../terminal/errors.ts'

/** More than a record of learners ever has; what goes on beyond has lost its closing quote. */
const maximumRecordBytes = 1024 * 1024
const byteOrderMark = '\xef\xbb\xbf'

/** Which records of a CSV stay, told by their cells under the names of the header. */
export type Admits = (row: Readonly<Record<string, string>>) => boolean

/**
 * The header of a CSV and the records that stay, byte for byte (RFC 4180; quotes count at the beginning of a cell
 * alone). Where there is no header, no cell has a name. Throws a CommandError on a record without an end.
 */
export async function* keptRecords(
  source: AsyncIterable<Uint8Array>,
  admits: Admits,
  { separator, headed }: { readonly separator: string; readonly headed: boolean },
): AsyncGenerator<Uint8Array> {
  let rest = ''
  let header: readonly string[] | null = headed ? null : []

  function kept(record: string): string {
    if (header === null) {
      header = cellsIn(withoutMark(record), separator)
      return record
    }
    if (/^\r?\n?$/.test(record)) return record
    const cells = cellsIn(record, separator)
    return admits(Object.fromEntries(header.map((name, index) => [name, cells[index] ?? '']))) ? record : ''
  }

  for await (const piece of source) {
    const text = rest + Buffer.from(piece).toString('latin1')
    let from = 0
    let out = ''
    for (let end = endOfRecord(text, from, separator); end >= 0; end = endOfRecord(text, from, separator)) {
      out += kept(text.slice(from, end))
      from = end
    }
    rest = text.slice(from)
    if (rest.length > maximumRecordBytes) {
      throw new CommandError('invalid_row', 'failure', 'The platform sent a CSV record that does not end')
    }
    if (out !== '') yield Buffer.from(out, 'latin1')
  }
  if (rest !== '') yield Buffer.from(kept(rest), 'latin1')
}

/** The place after the line end of the record that begins at `from`; -1 where it has not come yet. */
function endOfRecord(text: string, from: number, separator: string): number {
  let at = from
  for (;;) {
    const line = text.indexOf('\n', at)
    if (line < 0) return -1
    const quote = text.indexOf('"', at)
    if (quote < 0 || quote > line) return line + 1
    const before = text[quote - 1]
    const opens = quote === from || before === separator || text.slice(from, quote) === byteOrderMark
    const close = opens ? closingQuote(text, quote + 1) : quote
    if (close < 0) return -1
    at = close + 1
  }
}

/** The quote that ends a cell, from inside of it; -1 where it has not come yet, or may turn out to be doubled. */
function closingQuote(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 2)) {
    if (text[at + 1] !== '"') return at
  }
  return -1
}

/** Bytes, each a character, without the byte order mark of UTF-8. */
export function withoutMark(bytes: string): string {
  return bytes.startsWith(byteOrderMark) ? bytes.slice(byteOrderMark.length) : bytes
}

/** The texts of the cells of a record, whose bytes are a character each. */
export function cellsIn(record: string, separator: string): string[] {
  const cells: string[] = []
  const line = record.replace(/\r?\n$/, '')
  for (let at = 0; at <= line.length; ) {
    const close = line[at] === '"' ? closingQuote(line, at + 1) : -1
    const end = line.indexOf(separator, Math.max(at, close + 1))
    const next = end < 0 ? line.length : end
    cells.push(utf8(close < 0 ? line.slice(at, next) : line.slice(at + 1, close).replaceAll('""', '"')))
    at = next + 1
  }
  return cells
}

/** Bytes that were read one by one, as the text that they are. */
function utf8(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8')
}

/** The separator of the cells: a comma, unless the header has more of another outside of quotes. */
export function separatorOf(header: string): string {
  const plain = header.replace(/"[^"]*"/g, '')
  const count = (separator: string) => plain.split(separator).length
  return [',', ';', '\t', '|'].reduce((best, each) => (count(each) > count(best) ? each : best))
}
