import type { Caller } from '../../client/caller.ts'
import type { BatchForm } from '../../client/foreign/filter.ts'
import { originalOf } from '../../client/original-record.ts'
import { isStrict } from '../../client/reply.ts'
import { isJsonObject, type JsonObject, jsonText, parseJson } from '../../codec/json-text.ts'
import type { analytics } from '../../contract/analytics.ts'
import type { QueryInput } from '../../contract/operation.ts'
import type { PlatformFilter } from '../operation/judge-list.ts'
import { CommandError } from '../terminal/errors.ts'

/** The operation that exports learners. */
export type Learners = typeof analytics.learners
/** Query of the learners. */
export type LearnersQuery = Omit<QueryInput<Learners>, 'format'>

/** Media types of a stream of rows; any other is a document. */
const lineTypes = /\b(x-)?(ndjson|jsonl|json-?lines|jsonlines|stream\+json)\b/i

/** The rows to request. */
interface Asked {
  readonly operation: Learners
  readonly query: LearnersQuery
  /** Applies the filters of the query; null without any. */
  readonly filter: PlatformFilter | null
}

/** All rows, as JSON in batches. */
export interface LearnerRows {
  readonly texts: AsyncIterable<readonly string[]>
  /** True for rows of a server of this API, which have its fields. */
  readonly isOwn: boolean
}

/**
 * Requests all rows: from a stream if the platform supports it, else page by page.
 */
export async function rowTexts(
  caller: Caller,
  { operation, query, filter }: Asked,
  signal: AbortSignal,
): Promise<LearnerRows> {
  const type = 'application/x-ndjson'
  const { ApiError, ProtocolError } = await import('../../client/errors.ts')
  try {
    const input = { query: { ...query, format: 'ndjson' }, signal } as const
    const reply = await caller.open(operation, input, { accept: type })
    const { body, headers } = reply
    const strict = caller.isOurs() || isStrict(headers)
    if (!strict && !lineTypes.test(headers['content-type'] ?? '')) {
      const { discardBody } = await import('../../client/reply.ts')
      await discardBody(reply)
      return paged()
    }
    const { assertWhole } = await import('../../client/foreign/walk.ts')
    const lines = wholeLines(body ?? [], (rows) =>
      assertWhole(caller.request(operation, input), headers, rows),
    )
    return strict ? { texts: lines, isOwn: true } : { texts: admittedLines(lines, filter), isOwn: false }
  } catch (error) {
    // The published interface only has csv: a platform without ndjson has its rows in JSON pages.
    const unknown =
      (error instanceof ApiError && !error.coded && [400, 406, 415, 422].includes(error.status)) ||
      (error instanceof ProtocolError && error.code === 'unexpected_type')
    if (!unknown) throw error
    return paged()
  }

  function paged(): LearnerRows {
    const pages = caller.pages(operation, { query, signal })
    return { texts: pagedTexts(filter ? filter.pages(pages) : pages), isOwn: false }
  }
}

/** Yields the lines of a stream; `check` gets the number of rows and throws if some are missing. */
async function* wholeLines(
  body: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  check: (rows: number) => void,
): AsyncGenerator<string[]> {
  let rows = 0
  for await (const lines of linesOf(body)) {
    rows += lines.length
    yield lines
  }
  check(rows)
}

async function* linesOf(body: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const decode = (piece: Uint8Array) => {
    try {
      return decoder.decode(piece, { stream: true })
    } catch (cause) {
      throw new CommandError('not_utf8', 'failure', 'The platform sent a row that is not UTF-8', { cause })
    }
  }
  let rest = ''
  for await (const piece of body) {
    const lines = (rest + decode(piece)).split('\n')
    rest = lines.pop() ?? ''
    yield lines
  }
  if (rest === '') return
  // A stream may have no length, so only an incomplete last line shows that it was cut short.
  if (!isJson(rest))
    throw new CommandError('cut_short', 'unavailable', 'The export was cut short in its last row')
  yield [rest]
}

function isJson(text: string): boolean {
  try {
    return parseJson(text) !== undefined
  } catch {
    return false
  }
}

/** Yields the rows of another platform that the filter accepts. Each must be an object. */
async function* admittedLines(
  source: AsyncIterable<readonly string[]>,
  filter: PlatformFilter | null,
): AsyncGenerator<string[]> {
  const form: BatchForm<readonly ParsedLine[]> = {
    rows: (batch) => batch.map(({ row }) => row),
    keep: (batch, admitted) => batch.filter((_, index) => admitted[index]),
  }
  const lines = parsedLines(source)
  for await (const batch of filter ? filter.batches(lines, form) : lines) yield batch.map(({ line }) => line)
}

interface ParsedLine {
  readonly line: string
  readonly row: JsonObject
}

async function* parsedLines(source: AsyncIterable<readonly string[]>): AsyncGenerator<readonly ParsedLine[]> {
  for await (const lines of source) {
    yield lines.flatMap((line) => {
      if (line.trim() === '') return []
      const row = parsedRow(line)
      if (!isJsonObject(row)) throw invalidRow()
      return [{ line, row }]
    })
  }
}

async function* pagedTexts(
  pages: AsyncIterable<{ readonly data: readonly unknown[] }>,
): AsyncGenerator<string[]> {
  for await (const { data } of pages) yield data.map((row) => jsonText(originalOf(row)))
}

/** Parses a row of JSON. Throws a CommandError. */
export function parsedRow(text: string): unknown {
  try {
    return parseJson(text)
  } catch (cause) {
    throw invalidRow(cause)
  }
}

function invalidRow(cause?: unknown): CommandError {
  return new CommandError('invalid_row', 'failure', 'The platform sent a row that is not JSON', { cause })
}
