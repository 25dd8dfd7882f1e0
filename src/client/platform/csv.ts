import { addGuard, csvRecord, separatorOf } from '../../codec/csv.ts'
import { isJsonObject } from '../../codec/json-text.ts'
import type { HttpResponse } from '../../contract/http.ts'
import { hostOf, PlatformError, ProtocolError, type Target } from '../errors.ts'
import { bytesOf } from '../reply.ts'
import { type Fields, letters } from './fields.ts'
import { FilterCheck } from './filters.ts'
import { incomplete } from './lists.ts'
import type { FoundCall } from './operations.ts'

interface CsvOptions {
  readonly isChecked: boolean
  readonly encoding: string | undefined
  readonly timeZone: string | undefined
  /** Texts that look like formulas stay as they are. */
  readonly raw: boolean
  readonly bom: boolean
}

export async function* readCsv(
  target: Target,
  found: FoundCall,
  fields: Fields,
  { body, headers }: HttpResponse,
  { isChecked, encoding, timeZone, raw, bom }: CsvOptions,
): AsyncGenerator<string> {
  const [{ CsvError, parse }, { pipeline, Readable }] = await Promise.all([
    import('csv-parse'),
    import('node:stream'),
  ])
  const texts = decoded(
    target,
    body === null ? [] : bytesOf(body),
    encoding ?? charsetOf(headers['content-type'] ?? ''),
  )
  const head = await untilLine(texts)
  const delimiter = separatorOf(head.split('\n', 1)[0] ?? '')
  const parser = parse({ delimiter, relax_column_count: false, skip_empty_lines: true })
  pipeline(Readable.from(withHead(head, texts)), parser, () => {})
  const check = isChecked ? new FilterCheck(found, timeZone) : null
  let columns: readonly string[] | null = null
  let names: readonly string[] = []
  let rows = 0
  try {
    for await (const cells of parser as AsyncIterable<string[]>) {
      if (columns === null) {
        names = cells.map((cell) => cell.trim())
        columns = columnsOf(target, fields, names)
        yield (bom ? '\ufeff' : '') + csvRecord(columns, raw)
        continue
      }
      rows += 1
      const theirs = Object.fromEntries(names.map((name, index) => [name, cells[index] || null]))
      const row = fields.read(target, theirs)
      check?.see([row])
      yield csvRecord(
        columns.map((column, index) => guarded(cellOf(row[column], cells[index] ?? ''), raw)),
        true,
      )
    }
  } catch (cause) {
    if (!(cause instanceof CsvError)) throw cause
    throw new ProtocolError(
      target,
      'invalid_row',
      `${hostOf(target)} sent CSV that cannot be read: ${cause.message}`,
      cause,
    )
  }
  if (columns === null)
    throw new ProtocolError(target, 'invalid_row', `${hostOf(target)} sent CSV without a header`)
  const total = Number(headers['x-total-count'] ?? rows)
  if (total > rows) throw incomplete(target, rows, total)
  check?.assert(target)
}

function columnsOf(target: Target, fields: Fields, header: readonly string[]): string[] {
  const names = header.map((name) => fields.nameOf(name) ?? name)
  const repeated = names.find((name, index) => names.indexOf(name) !== index)
  if (repeated !== undefined) {
    const message = `${hostOf(target)} sent CSV with two columns of ${repeated}: ${header.join(', ')}`
    throw new PlatformError(target, message, `records: { learner: { ${repeated}: /… } }`)
  }
  if (names.includes('learnerId')) return names
  const ids = names.filter((name) => letters(name) === 'id')
  if (ids.length === 1) return names.map((name) => (name === ids[0] ? 'learnerId' : name))
  throw new PlatformError(
    target,
    `${hostOf(target)} sent CSV without learnerId; its columns are ${header.join(', ')}`,
    'records: { learner: { learnerId: /… } }',
  )
}

function cellOf(value: unknown, cell: string): string | number | null {
  if (typeof value === 'number') return value
  return typeof value === 'string' ? value : isJsonObject(value) || value === undefined ? cell : null
}

/** A number may stand in a column that is not known to have numbers. */
const number = /^[+-]?(?:\d[\d.,]*|[.,]\d+)(?:e[+-]?\d+)?%?$/i

function guarded(cell: string | number | null, raw: boolean): string | number | null {
  return raw || typeof cell !== 'string' || number.test(cell) ? cell : addGuard(cell)
}

function charsetOf(type: string): string {
  return /;\s*charset="?([\w-]+)/i.exec(type)?.[1] ?? 'utf-8'
}

async function* decoded(
  target: Target,
  bytes: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  charset: string,
): AsyncGenerator<string> {
  try {
    const decoder = new TextDecoder(charset, { fatal: true })
    for await (const piece of bytes) yield decoder.decode(piece, { stream: true })
    yield decoder.decode()
  } catch (cause) {
    if (!(cause instanceof TypeError || cause instanceof RangeError)) throw cause
    throw new ProtocolError(
      target,
      'bad_encoding',
      `${hostOf(target)} sent CSV that is not ${charset}`,
      cause,
    )
  }
}

/** Returns the text up to its first complete line, at most 64 Ki characters. */
async function untilLine(texts: AsyncIterator<string>): Promise<string> {
  let text = ''
  while (!text.includes('\n') && text.length < 65_536) {
    const next = await texts.next()
    if (next.done) break
    text += next.value
  }
  return text
}

async function* withHead(head: string, rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield head
  yield* rest
}
