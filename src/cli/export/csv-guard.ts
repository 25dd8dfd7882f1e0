/** Maximum bytes to look at to tell a negative number from a formula. */
const lookaheadBytes = 64
/** Bytes needed to see whether a cell needs the guard. */
const startBytes = 4
const lineFeed = 0x0a
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])
const number = /^[+-]?(?:\d[\d.,]*|[.,]\d+)(?:e[+-]?\d+)?%?$/i
/** UTF-8 bytes of `＝`, `＋`, `－` and `＠`. */
const fullWidth = '\\xef\\xbc[\\x9d\\x8b\\x8d\\xa0]'

/**
 * Puts a `'` in front of every unguarded cell that a spreadsheet would run as a formula (OWASP CSV
 * Injection), for any of these separators; all other bytes are unchanged. A signed number is not a formula.
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
      yield guarded(rest, end, scan)
      rest = Buffer.from(rest.subarray(end - 1))
    }
  } catch (error) {
    // Yield the bytes before the error first.
    fault = { error }
  }
  if (rest.length > 1) yield guarded(rest, rest.length, scan ?? scanner(rest, separator))
  if (fault) throw fault.error
}

/** Returns the bytes from the second one to `end`, with missing guards. */
function guarded(data: Buffer, end: number, scan: Scan): Uint8Array {
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
  const formula = `[=+\\-@${separator === '\t' ? '' : '\\t'}]|${fullWidth}`
  const cellStarts = `${separator}\n`
  const begin = new RegExp(`[${between}\\n](?=${formula}|"(?:${formula}|[\\r\\n])|\\r(?!\\n))`, 'g')
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
      if (quotedBefore(index + 1)) continue
      const quoted = text[index + 1] === '"'
      const start = index + (quoted ? 2 : 1)
      if (!isNumber(data, start, quoted)) starts.push(start)
    }
    quotedBefore(end)
    // The next piece starts with the last byte of this one.
    closed -= end - 1
    return starts
  }
}
