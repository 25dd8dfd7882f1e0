import { answer } from '../../client/decode.ts'
import { ProtocolError, type Target } from '../../client/errors.ts'
import { bareName } from '../../client/foreign/names.ts'
import { separatorOf } from '../../codec/csv.ts'
import { calls } from '../../contract/calls.ts'
import type { HttpBody, HttpHeaders } from '../../contract/http.ts'
import { decodeCsv, utf8Only } from './csv-charset.ts'
import { cellsIn, withoutMark } from './csv-records.ts'

/** Bytes to check before any are passed on; more until the header is complete. */
const openingBytes = 256
/** Maximum length of a header. */
const maxHeaderBytes = 64 * 1024
const lineFeed = 0x0a

/** A CSV, and the properties that its first line shows. */
export interface OpenedCsv {
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
  return new ProtocolError(target, 'unexpected_type', `${answer(target)} is ${what}`)
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
