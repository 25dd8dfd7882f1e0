import type { PlatformFilter } from '../operation/platform-filter.ts'
import { CommandError } from '../terminal/errors.ts'

/** More than a record of learners ever has; what goes on beyond has lost its closing quote. */
const maximumRecordBytes = 1024 * 1024
const byteOrderMark = '\xef\xbb\xbf'

/** Records of a CSV, byte for byte, with their cells under the names of the header. */
export interface CsvBatch {
  /** The header, in the batch that begins with it. */
  readonly head: string
  readonly records: readonly CsvRecord[]
}

interface CsvRecord {
  /** Bytes, each a character, with the line end. */
  readonly bytes: string
  readonly row: Readonly<Record<string, string>>
}

/**
 * The records of a CSV (RFC 4180; quotes count at the beginning of a cell alone). Where there is no header, no cell has a
 * name. Throws a CommandError on a record without an end.
 */
async function* csvBatches(
  source: AsyncIterable<Uint8Array>,
  { separator, headed }: { readonly separator: string; readonly headed: boolean },
): AsyncGenerator<CsvBatch> {
  let rest = ''
  let header: readonly string[] | null = headed ? null : []

  function batchOf(texts: readonly string[]): CsvBatch {
    let head = ''
    const records = texts.flatMap((bytes) => {
      if (header === null) {
        header = cellsIn(withoutMark(bytes), separator)
        head = bytes
        return []
      }
      if (/^\r?\n?$/.test(bytes)) return []
      const cells = cellsIn(bytes, separator)
      return [{ bytes, row: Object.fromEntries(header.map((name, index) => [name, cells[index] ?? ''])) }]
    })
    return { head, records }
  }

  for await (const piece of source) {
    const text = rest + Buffer.from(piece).toString('latin1')
    const texts: string[] = []
    let from = 0
    for (let end = endOfRecord(text, from, separator); end >= 0; end = endOfRecord(text, from, separator)) {
      texts.push(text.slice(from, end))
      from = end
    }
    rest = text.slice(from)
    if (rest.length > maximumRecordBytes) {
      throw new CommandError('invalid_row', 'failure', 'The platform sent a CSV record that does not end')
    }
    if (texts.length > 0) yield batchOf(texts)
  }
  if (rest !== '') yield batchOf([rest])
}

/** The header of a CSV and the records that a filter admits, without empty lines. */
export async function* keptRecords(
  source: AsyncIterable<Uint8Array>,
  filter: Pick<PlatformFilter, 'batches'>,
  form: { readonly separator: string; readonly headed: boolean },
): AsyncGenerator<Uint8Array> {
  const kept = filter.batches(csvBatches(source, form), {
    rows: ({ records }) => records.map(({ row }) => row),
    keep: ({ head, records }, admitted) => ({ head, records: records.filter((_, index) => admitted[index]) }),
  })
  for await (const { head, records } of kept) {
    const text = head + records.map(({ bytes }) => bytes).join('')
    if (text !== '') yield Buffer.from(text, 'latin1')
  }
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
