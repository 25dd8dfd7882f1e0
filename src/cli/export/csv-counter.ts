import { removeGuard } from '../../codec/csv.ts'

const quote = 0x22
const lineFeed = 0x0a
const apostrophe = 0x27
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])
const endOfQuotedCell = /"/
/** Maximum apostrophes to look at in front of a formula. */
const lookaheadBytes = 64

/** Counts records and guarded cells of a CSV as its bytes pass. */
export interface CsvCounter {
  count(bytes: Uint8Array): void
  /** Counts the rest after the last bytes. */
  end(): void
  /** Records (RFC 4180), including the header. */
  records(): number
  /** Cells with the guard against formulas. */
  guarded(): number
}

/** Creates a counter with constant memory; `separator` is the character between cells. */
export function createCsvCounter(separator = ','): CsvCounter {
  const between = separator.charCodeAt(0)
  const endOfPlainCell = new RegExp(`[${separator}\\r\\n]`)
  let records = 0
  let guarded = 0
  let inQuotes = false
  let previous = lineFeed
  /** Start of the bytes to scan, after a byte order mark. */
  let origin: number | null = null
  /** The last quote that ended a cell; negative if it is in earlier bytes. */
  let closed = Number.NEGATIVE_INFINITY
  // The characters after an apostrophe at the start of a cell may be in the next bytes.
  let rest = Buffer.alloc(0)

  function look(data: Buffer, at: number, end: RegExp): void {
    const [cell = ''] = data.toString('utf8', at, at + lookaheadBytes).split(end, 1)
    if (removeGuard(cell) !== cell) guarded += 1
  }

  /** Scans unquoted bytes: each line feed ends a record, an apostrophe may start a cell. */
  function scanPlain(data: Buffer, from: number, to: number): void {
    for (let at = data.indexOf(lineFeed, from); at >= 0 && at < to; at = data.indexOf(lineFeed, at + 1))
      records += 1
    for (let at = data.indexOf(apostrophe, from); at >= 0 && at < to; at = data.indexOf(apostrophe, at + 1)) {
      if (beginsCell(data, at)) look(data, at, endOfPlainCell)
    }
  }

  function beginsCell(data: Buffer, at: number): boolean {
    const left = at === origin ? previous : data[at - 1]
    return left === between || left === lineFeed
  }

  function scan(data: Buffer, end: number): void {
    origin =
      origin === null && data.subarray(0, byteOrderMark.length).equals(byteOrderMark)
        ? byteOrderMark.length
        : 0
    let from = origin
    while (from < end) {
      const found = data.indexOf(quote, from)
      const to = found < 0 ? end : Math.min(found, end)
      if (!inQuotes) scanPlain(data, from, to)
      if (to === end) break
      if (inQuotes) {
        inQuotes = false
        closed = to
      } else {
        // A doubled quote ends and restarts the quotes; a quote within an unquoted cell is a character.
        const begins = beginsCell(data, to)
        inQuotes = begins || closed === to - 1
        if (begins && data[to + 1] === apostrophe) look(data, to + 1, endOfQuotedCell)
      }
      from = to + 1
    }
    if (end > origin) previous = data[end - 1] ?? previous
    closed -= end
  }

  return {
    count(bytes) {
      const data = Buffer.concat([rest, bytes])
      const ahead = data.length - lookaheadBytes
      // Wait until the byte order mark is complete.
      const end = ahead < byteOrderMark.length ? 0 : ahead
      if (end > 0) scan(data, end)
      rest = Buffer.from(data.subarray(end))
    },
    end() {
      scan(rest, rest.length)
      rest = Buffer.alloc(0)
      // The last record may lack its line end (RFC 4180 §2).
      if (previous !== lineFeed) records += 1
    },
    records: () => records,
    guarded: () => guarded,
  }
}
