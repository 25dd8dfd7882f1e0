import { beginsWithGuard } from '../../codec/csv.ts'

const quote = 0x22
const lineFeed = 0x0a
const apostrophe = 0x27
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])
const endOfQuotedCell = /"/
/** Characters within a cell that a spreadsheet may take for the separator. */
const otherSeparators: readonly (number | undefined)[] = [';', '|', '\t'].map((text) => text.charCodeAt(0))
/** Maximum bytes of a cell to look at: for the apostrophes before a formula, or to tell a number from one. */
const lookaheadBytes = 64

/** Counts records and guarded cells of a CSV as its bytes pass. */
export interface CsvCounter {
  count(bytes: Uint8Array): void
  end(): void
  /** Records (RFC 4180), including the header. */
  records(): number
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

  function countGuard(data: Buffer, at: number, end: RegExp, within = false): void {
    const [cell = ''] = data.toString('utf8', at, at + lookaheadBytes).split(end, 1)
    if (beginsWithGuard(cell, within)) guarded += 1
  }

  /** Scans unquoted bytes: each line feed ends a record, an apostrophe may start a cell. */
  function scanPlain(data: Buffer, from: number, to: number): void {
    for (let at = data.indexOf(lineFeed, from); at >= 0 && at < to; at = data.indexOf(lineFeed, at + 1))
      records += 1
    for (let at = data.indexOf(apostrophe, from); at >= 0 && at < to; at = data.indexOf(apostrophe, at + 1)) {
      if (beginsCell(data, at)) countGuard(data, at, endOfPlainCell)
    }
  }

  /** Scans bytes within quotes: an apostrophe may follow a character that another reader takes for a separator. */
  function scanQuoted(data: Buffer, from: number, to: number): void {
    for (let at = data.indexOf(apostrophe, from); at >= 0 && at < to; at = data.indexOf(apostrophe, at + 1)) {
      if (otherSeparators.includes(at === origin ? previous : data[at - 1]))
        countGuard(data, at, endOfQuotedCell, true)
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
      if (inQuotes) scanQuoted(data, from, to)
      else scanPlain(data, from, to)
      if (to === end) break
      if (inQuotes) {
        inQuotes = false
        closed = to
      } else {
        // A doubled quote ends and restarts the quotes; a quote within an unquoted cell is a character.
        const begins = beginsCell(data, to)
        inQuotes = begins || closed === to - 1
        if (begins && data[to + 1] === apostrophe) countGuard(data, to + 1, endOfQuotedCell)
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

/** Bytes needed to see whether a cell needs the guard. */
const startBytes = 4
const number = /^[+-]?(?:\d[\d.,]*|[.,]\d+)(?:e[+-]?\d+)?%?$/i
/** UTF-8 bytes of `＝`, `＋`, `－` and `＠`. */
const fullWidth = '\\xef\\xbc[\\x9d\\x8b\\x8d\\xa0]'

/**
 * Puts a `'` in front of everything unguarded that a spreadsheet would run as a formula (OWASP CSV Injection):
 * cells, and what follows `;`, `|` or tab within them. All other bytes are unchanged. A signed number is not a
 * formula.
 */
export async function* guardCsv(
  source: AsyncIterable<Uint8Array>,
  separator: string,
): AsyncGenerator<Uint8Array> {
  // Each piece keeps its previous byte, which shows whether a cell starts; the first piece follows a line
  // feed.
  let rest = Buffer.from([lineFeed])
  let scan: Scan | null = null
  let fault: { readonly error: unknown } | null = null
  try {
    for await (const piece of source) {
      rest = Buffer.concat([rest, piece])
      const end = rest.length - lookaheadBytes
      if (end <= startBytes) continue
      scan ??= scanner(rest, separator)
      yield withGuards(rest, end, scan)
      rest = Buffer.from(rest.subarray(end - 1))
    }
  } catch (error) {
    // Yield the bytes before the error first.
    fault = { error }
  }
  if (rest.length > 1) yield withGuards(rest, rest.length, scan ?? scanner(rest, separator))
  if (fault) throw fault.error
}

/** Returns the bytes from the second one to `end`, with missing guards. */
function withGuards(data: Buffer, end: number, scan: Scan): Uint8Array {
  const starts = scan(data, end)
  if (starts.length === 0) return data.subarray(1, end)
  const places = [1, ...starts]
  const parts = places.map((place, index) => data.toString('latin1', place, places[index + 1] ?? end))
  return Buffer.from(parts.join("'"), 'latin1')
}

/** Returns where cells start that need the guard, between the first byte and `end`. */
type Scan = (data: Buffer, end: number) => number[]

function scanner(head: Buffer, separator: string): Scan {
  const between = separator === '|' ? '\\|' : separator
  const sign = `[=+\\-@]|${fullWidth}`
  const formula = separator === '\t' ? sign : `\\t|${sign}`
  const cellStarts = `${separator}\n`
  const begin = new RegExp(
    `[${between}\\n](?=${formula}|"(?:${formula}|[\\r\\n])|\\r(?!\\n))|[;|\\t](?=${sign})`,
    'g',
  )
  const endOfPlain = new RegExp(`[${between}\\r\\n]`)
  let inQuotes = false
  /** The last quote that ended a cell; negative if it is in an earlier piece. */
  let closed = Number.NEGATIVE_INFINITY
  // The first cell follows the byte order mark.
  let first = head.subarray(1, 4).equals(byteOrderMark) ? 3 : 0

  function isNumber(data: Buffer, start: number, quoted: boolean): boolean {
    const text = data.toString('latin1', start, start + lookaheadBytes)
    const [cell = ''] = text.split(quoted ? '"' : endOfPlain, 1)
    return number.test(cell)
  }

  return (data, end) => {
    const text = data.toString('latin1', 0, end + startBytes)
    const cells = first === 0 ? text : `\n${' '.repeat(first - 1)}\n${text.slice(first + 1)}`
    first = 0
    let counted = 1
    /**
     * True if the text before an index ends within quotes. These start only at the start of a cell; a doubled
     * quote ends and restarts them.
     */
    function quotedBefore(place: number): boolean {
      for (;;) {
        const at = text.indexOf('"', counted)
        if (at < 0 || at >= place) return inQuotes
        if (inQuotes) closed = at
        inQuotes = !inQuotes && (closed === at - 1 || cellStarts.includes(cells[at - 1] ?? ''))
        counted = at + 1
      }
    }
    const starts: number[] = []
    for (const { index } of cells.matchAll(begin)) {
      if (index > end - 2) break
      const within = quotedBefore(index + 1)
      if (within && !otherSeparators.includes(cells.charCodeAt(index))) continue
      const quoted = within || text[index + 1] === '"'
      const start = index + (text[index + 1] === '"' ? 2 : 1)
      if (!isNumber(data, start, quoted)) starts.push(start)
    }
    quotedBefore(end)
    // The next piece starts with the last byte of this one.
    closed -= end - 1
    return starts
  }
}
