import { unguarded } from '../../codec/csv.ts'

const quote = 0x22
const lineFeed = 0x0a
const apostrophe = 0x27
const endOfQuotedCell = /"/
/** How far a cell is looked into; more apostrophes than that in front of a formula are nobody's. */
const lookaheadBytes = 64

/** Counts what is in a CSV while its bytes go by. */
export interface CsvCounter {
  count(bytes: Uint8Array): void
  /** Counts what is left when no more bytes come. */
  end(): void
  /** Records (RFC 4180), the header among them. */
  records(): number
  /** Cells that carry the formula guard. */
  guarded(): number
}

/** A counter of records and guarded cells, in constant memory; `separator` is a character between two cells. */
export function csvCounter(separator = ','): CsvCounter {
  const between = separator.charCodeAt(0)
  const endOfPlainCell = new RegExp(`[${separator}\\r\\n]`)
  let records = 0
  let guarded = 0
  let inQuotes = false
  let previous = lineFeed
  // What follows an apostrophe at the beginning of a cell may come only with the next bytes.
  let rest = Buffer.alloc(0)

  function look(data: Buffer, at: number, end: RegExp): void {
    const [cell = ''] = data.toString('utf8', at, at + lookaheadBytes).split(end, 1)
    if (unguarded(cell) !== cell) guarded += 1
  }

  /** Unquoted bytes: every line feed ends a record, an apostrophe may begin a cell. */
  function scanPlain(data: Buffer, from: number, to: number): void {
    for (let at = data.indexOf(lineFeed, from); at >= 0 && at < to; at = data.indexOf(lineFeed, at + 1))
      records += 1
    for (let at = data.indexOf(apostrophe, from); at >= 0 && at < to; at = data.indexOf(apostrophe, at + 1)) {
      const left = at === 0 ? previous : data[at - 1]
      if (left === between || left === lineFeed) look(data, at, endOfPlainCell)
    }
  }

  function scan(data: Buffer, end: number): void {
    let from = 0
    while (from < end) {
      const found = data.indexOf(quote, from)
      const to = found < 0 ? end : Math.min(found, end)
      if (!inQuotes) scanPlain(data, from, to)
      if (to === end) break
      const left = to === 0 ? previous : data[to - 1]
      // A doubled quote closes and opens again: only one after a separator or a line opens a cell.
      const opensCell = !inQuotes && (left === between || left === lineFeed)
      if (opensCell && data[to + 1] === apostrophe) look(data, to + 1, endOfQuotedCell)
      inQuotes = !inQuotes
      from = to + 1
    }
    if (end > 0) previous = data[end - 1] ?? previous
  }

  return {
    count(bytes) {
      const data = Buffer.concat([rest, bytes])
      const end = Math.max(0, data.length - lookaheadBytes)
      scan(data, end)
      rest = Buffer.from(data.subarray(end))
    },
    end() {
      scan(rest, rest.length)
      rest = Buffer.alloc(0)
      // The last record may go without its line end (RFC 4180 §2).
      if (previous !== lineFeed) records += 1
    },
    records: () => records,
    guarded: () => guarded,
  }
}
