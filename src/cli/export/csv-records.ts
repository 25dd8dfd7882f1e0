import type { PlatformFilter } from '../operation/judge-list.ts'
import { CommandError } from '../terminal/errors.ts'

/** Maximum record; a longer one has lost its closing quote. */
const maxRecordBytes = 1024 * 1024
const byteOrderMark = '\xef\xbb\xbf'

/** Records of a CSV as bytes, with their cells by column. */
export interface CsvBatch {
  /** The header, in the batch that begins with it. */
  readonly head: string
  readonly records: readonly CsvRecord[]
}

interface CsvRecord {
  /** The record with its line end; each character is one byte. */
  readonly bytes: string
  readonly row: Readonly<Record<string, string>>
}

/**
 * Reads the records of a CSV (RFC 4180; quotes only count at the start of a cell). Without a header, cells
 * have no names. Throws a CommandError on a record without an end.
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
    if (rest.length > maxRecordBytes) {
      throw new CommandError('invalid_row', 'failure', 'The platform sent a CSV record that does not end')
    }
    if (texts.length > 0) yield batchOf(texts)
  }
  if (rest !== '') yield batchOf([rest])
}

/** Yields the header and the records that a filter accepts, without empty lines. */
export async function* filterRecords(
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

/** Returns the index after the line end of the record at `from`; -1 if it is incomplete. */
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

/** Returns the closing quote of a cell; -1 if it is missing, or the next byte may double it. */
function closingQuote(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 2)) {
    if (text[at + 1] !== '"') return at
  }
  return -1
}

/** Removes the byte order mark of UTF-8; each character is one byte. */
export function withoutMark(bytes: string): string {
  return bytes.startsWith(byteOrderMark) ? bytes.slice(byteOrderMark.length) : bytes
}

/** Returns the texts of a record's cells; each character of the record is one byte. */
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

/** Decodes UTF-8; each character is one byte. */
function utf8(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8')
}
