import { csvRecord, separatorOf } from '../../codec/csv.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import type { HttpResponse } from '../../contract/http.ts'
import { hostOf, PlatformError, ProtocolError, type Target } from '../errors.ts'
import { bytesOf } from '../reply.ts'
import { type Fields, letters } from './fields.ts'
import { FilterCheck } from './filters.ts'
import { incomplete } from './lists.ts'
import type { FoundCall } from './operations.ts'

/** Reads the CSV of a platform and yields it with the columns, times and separator of ours. */
export async function* readCsv(
  target: Target,
  found: FoundCall,
  fields: Fields,
  { body, headers }: HttpResponse,
  { isChecked, encoding }: { readonly isChecked: boolean; readonly encoding: string | undefined },
): AsyncGenerator<string> {
  const { CsvError, parse } = await import('csv-parse')
  const texts = decoded(
    target,
    body === null ? [] : bytesOf(body),
    encoding ?? charsetOf(headers['content-type'] ?? ''),
  )
  const head = await untilLine(texts)
  const delimiter = separatorOf(head.split('\n', 1)[0] ?? '')
  const parser = parse({ delimiter, relax_column_count: false, skip_empty_lines: true })
  const fed = feed(head, texts, parser)
  const check = isChecked ? new FilterCheck(found) : null
  let columns: readonly string[] | null = null
  let rows = 0
  try {
    for await (const cells of parser as AsyncIterable<string[]>) {
      if (columns === null) {
        columns = columnsOf(target, found, cells)
        yield csvRecord(columns, true)
        continue
      }
      rows += 1
      const named = columns.map((name, index) => [name, cells[index] ?? ''] as const)
      const row = fields.read(target, rowOf(named))
      check?.see([row])
      yield csvRecord(
        named.map(([name, cell]) => cellOf(valueAt(row, name), cell)),
        true,
      )
    }
    await fed
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

/** Returns the names of ours for a header. Throws PlatformError if it does not show the learner. */
function columnsOf(target: Target, { operation: { holds } }: FoundCall, header: readonly string[]): string[] {
  const byLetters = new Map(holds.answer.map((path) => [letters(path), path]))
  const names = header.map((name) => byLetters.get(letters(name.trim())) ?? name.trim())
  if (names.includes('learnerId')) return names
  const ids = names.filter((name) => letters(name) === 'id')
  if (ids.length === 1) return names.map((name) => (name === ids[0] ? 'learnerId' : name))
  throw new PlatformError(
    target,
    `${hostOf(target)} sent CSV without learnerId; its columns are ${header.join(', ')}`,
    'records: { learner: { learnerId: /… } }',
  )
}

function rowOf(cells: readonly (readonly [name: string, cell: string])[]): JsonObject {
  return Object.fromEntries(cells.map(([name, cell]) => [name, cell === '' ? null : cell]))
}

function valueAt(row: JsonObject, name: string): unknown {
  return Object.hasOwn(row, name) ? row[name] : undefined
}

function cellOf(value: unknown, cell: string): string | number | null {
  if (typeof value === 'number') return value
  return typeof value === 'string' ? value : isJsonObject(value) || value === undefined ? cell : null
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

async function feed(
  head: string,
  rest: AsyncIterable<string>,
  parser: {
    write(text: string): boolean
    end(): unknown
    destroy(error: Error): unknown
    once(event: 'drain', listener: () => void): unknown
  },
): Promise<void> {
  try {
    parser.write(head)
    for await (const text of rest) {
      if (text !== '' && !parser.write(text))
        await new Promise<void>((resolve) => parser.once('drain', resolve))
    }
    parser.end()
  } catch (error) {
    parser.destroy(error instanceof Error ? error : new Error(String(error)))
  }
}
