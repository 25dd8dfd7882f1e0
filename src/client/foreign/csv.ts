import { separatorOf } from '../../codec/csv.ts'
import { assertUtf8, NotUtf8Error } from '../../codec/unicode-text.ts'
import { calls } from '../../contract/calls.ts'
import type { HttpBody, HttpHeaders } from '../../contract/http.ts'
import { ProtocolError, type Target } from '../errors.ts'
import { bytesOf, subjectOf } from '../reply.ts'
import type { RowFilter } from './filter.ts'
import { bareName } from './names.ts'

/** Bytes to check before any are passed on; more until the header is complete. */
const openingBytes = 256
/** Maximum length of a header. */
const maxHeaderBytes = 64 * 1024
const lineFeed = 0x0a

/** A CSV, and the properties that its first line shows. */
interface OpenedCsv {
  /** In UTF-8. */
  readonly bytes: AsyncIterable<Uint8Array>
  /** The character between cells. */
  readonly separator: string
  /** False if the first line is already a row. */
  readonly headed: boolean
}

/**
 * Opens a platform's CSV and converts it to UTF-8. Throws a ProtocolError before it passes anything on: on a
 * web page, on JSON, on undeclared UTF-16 (in which formulas would not be found), on nothing, and on a single
 * cell, which is a message instead of an export.
 */
export async function openCsv(
  { headers, body }: { readonly headers: HttpHeaders; readonly body: Exclude<HttpBody, string> | null },
  target: Target,
  encoding?: string,
): Promise<OpenedCsv> {
  const source = decodeCsv(body, headers['content-type'] ?? '', target, encoding)
  let head = Buffer.alloc(0)
  let whole = false
  let fault: { readonly error: unknown } | null = null
  try {
    while (!whole && fault === null && !isEnough(head)) {
      const next = await source.next().catch((error: unknown) => {
        fault = { error }
        return null
      })
      if (next?.done === false) head = Buffer.concat([head, next.value])
      else whole = next !== null
    }
    assertOpening(head, whole, target)
  } catch (error) {
    await source.return(undefined)
    throw error
  }

  async function* all(): AsyncGenerator<Uint8Array> {
    // Yield the bytes before the error first.
    if (head.length > 0) yield head
    if (fault) throw fault.error
    yield* source
  }

  const [line = ''] = withoutMark(head.toString('latin1')).split('\n', 1)
  const separator = separatorOf(line)
  return { bytes: utf8Only(all(), target), separator, headed: !isRow(cellsIn(line, separator)) }
}

function isEnough(head: Buffer): boolean {
  return head.length >= maxHeaderBytes || (head.length >= openingBytes && head.includes(lineFeed))
}

function assertOpening(head: Buffer, whole: boolean, target: Target): void {
  if (head.subarray(0, openingBytes).includes(0)) throw notCsv(target, 'UTF-16 or binary, not CSV in UTF-8')
  const text = head.toString('utf8', 0, openingBytes).replace(/^\uFEFF/, '')
  if (/^\s*<[!?a-z]/i.test(text)) throw notCsv(target, 'a web page, not CSV')
  if (/^\s*[{[]\s*["{}[\]]/.test(text)) throw notCsv(target, 'JSON, not CSV')
  if (!whole) return
  const content = head.toString('utf8').trim()
  if (content === '') throw notCsv(target, 'empty, not CSV with a header')
  if (!/[,;\t|\n]/.test(content)) throw notCsv(target, 'a line of text, not CSV')
}

function notCsv(target: Target, what: string): ProtocolError {
  return new ProtocolError(target, 'unexpected_type', `${subjectOf(target)} is ${what}`)
}

const knownColumns: ReadonlySet<string> = new Set(calls.analytics.learners.holds.answer.map(bareName))
const address = /^[^\s@]+@[^\s@]+\.[^\s@]+$/
/** A number, percentage, date or time, which is never the name of a column. */
const figure = /^[+-]?\d[\d.,:+\-TZ ]*%?$/

/** True for cells that cannot be a header: an email address, or only figures. */
function isRow(cells: readonly string[]): boolean {
  if (cells.some((cell) => knownColumns.has(bareName(cell)))) return false
  const filled = cells.map((cell) => cell.trim()).filter((cell) => cell !== '')
  return (
    filled.some((cell) => address.test(cell)) ||
    (filled.length > 0 && filled.every((cell) => figure.test(cell)))
  )
}

/** Length of the longest byte order mark. */
const markBytes = 3
/** Maximum bytes of an incomplete UTF-8 sequence at the end of a piece. */
const maxOpenBytes = 3

/**
 * Converts a body to UTF-8, from the given encoding, else the charset of its Content-Type, else unchanged. A
 * byte order mark of UTF-8 or UTF-16 takes precedence. Throws a ProtocolError on an unknown charset and on
 * invalid bytes.
 */
async function* decodeCsv(
  body: HttpBody | null,
  contentType: string,
  target: Target,
  encoding?: string,
): AsyncGenerator<Uint8Array> {
  const [, said = 'utf-8'] = /;\s*charset\s*=\s*["']?([^\s;"']+)/i.exec(contentType) ?? []
  const declared = encoding ?? said
  let decoder: TextDecoder | null | undefined
  let start = Buffer.alloc(0)

  function decoded(data: Uint8Array, stream: boolean): Uint8Array {
    decoder ??= decoder === undefined ? decoderFor(declared, data, target) : null
    if (decoder === null) return data
    try {
      return Buffer.from(decoder.decode(data, { stream }))
    } catch (cause) {
      const message = `${subjectOf(target)} cannot be read: it is not ${declared}`
      throw new ProtocolError(target, 'unexpected_type', message, cause)
    }
  }

  for await (const piece of body === null ? [] : bytesOf(body)) {
    const data = decoder === undefined ? Buffer.concat([start, piece]) : piece
    start = Buffer.from(data.subarray(0, markBytes))
    if (decoder !== undefined || data.length >= markBytes) yield decoded(data, true)
  }
  yield decoded(decoder === undefined ? start : Buffer.alloc(0), false)
}

/** Returns the decoder of a charset; null for UTF-8. */
function decoderFor(declared: string, start: Uint8Array, target: Target): TextDecoder | null {
  const mark = Buffer.from(start.subarray(0, markBytes)).toString('hex')
  if (mark === 'efbbbf') return null
  // Without a mark, `utf-16` is little-endian (WHATWG Encoding Standard §4.2).
  const charset = /^utf-?16$/i.test(declared) && mark.startsWith('feff') ? 'utf-16be' : declared
  try {
    const decoder = new TextDecoder(charset, { fatal: true })
    return decoder.encoding === 'utf-8' ? null : decoder
  } catch (cause) {
    const said = JSON.stringify(declared)
    throw new ProtocolError(
      target,
      'unexpected_type',
      `${subjectOf(target)} has the unsupported charset ${said}`,
      cause,
    )
  }
}

/** Passes UTF-8 through. Throws a ProtocolError with the place of the first invalid sequence. */
async function* utf8Only(source: AsyncIterable<Uint8Array>, target: Target): AsyncGenerator<Uint8Array> {
  let rest = Buffer.alloc(0)
  let passed = 0
  try {
    for await (const piece of source) {
      const data = rest.length === 0 ? piece : Buffer.concat([rest, piece])
      const end = data.length - openBytes(data)
      assertUtf8(data.subarray(0, end), passed)
      if (end > 0) yield data.subarray(0, end)
      passed += end
      rest = Buffer.from(data.subarray(end))
    }
    assertUtf8(rest, passed)
  } catch (error) {
    if (!(error instanceof NotUtf8Error)) throw error
    throw new ProtocolError(
      target,
      'unexpected_type',
      `${subjectOf(target)} cannot be read: ${error.message}`,
      error,
    )
  }
}

/** Counts the bytes of an incomplete sequence at the end. */
function openBytes(data: Uint8Array): number {
  for (let count = 1; count <= maxOpenBytes; count += 1) {
    const byte = data[data.length - count] ?? 0
    if (byte < 0x80) return 0
    if (byte < 0xc0) continue
    const length = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
    return length > count ? count : 0
  }
  return 0
}

/** Maximum record; a longer one has lost its closing quote. */
const maxRecordBytes = 1024 * 1024
const byteOrderMark = '\xef\xbb\xbf'

/** Records of a CSV as bytes, with their cells by column. */
interface CsvBatch {
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
 * have no names. Throws a ProtocolError on a record without an end.
 */
async function* csvBatches(
  { bytes: source, separator, headed }: OpenedCsv,
  target: Target,
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
      throw new ProtocolError(target, 'invalid_row', 'The platform sent a CSV record that does not end')
    }
    if (texts.length > 0) yield batchOf(texts)
  }
  if (rest !== '') yield batchOf([rest])
}

/** Yields the header and the records that a filter accepts, without empty lines. */
export async function* filterRecords(
  csv: OpenedCsv,
  filter: Pick<RowFilter, 'batches'>,
  target: Target,
): AsyncGenerator<Uint8Array> {
  const kept = filter.batches(csvBatches(csv, target), {
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
function withoutMark(bytes: string): string {
  return bytes.startsWith(byteOrderMark) ? bytes.slice(byteOrderMark.length) : bytes
}

/** Returns the texts of a record's cells; each character of the record is one byte. */
function cellsIn(record: string, separator: string): string[] {
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
