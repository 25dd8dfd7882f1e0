import type { Caller } from '../../client/caller.ts'
import { jsonText, parseJson } from '../../codec/json-text.ts'
import type { analytics } from '../../contract/analytics.ts'
import type { QueryInput } from '../../contract/operation.ts'
import { CommandError } from '../terminal/errors.ts'

/** The operation that exports learners. */
export type Learners = typeof analytics.learners
/** Which learners. */
export type LearnersQuery = Omit<QueryInput<Learners>, 'format'>

/** All rows, each as JSON text, in batches: from a stream where the platform has one, else page by page. */
export async function rowTexts(
  caller: Caller,
  operation: Learners,
  query: LearnersQuery,
  signal: AbortSignal,
): Promise<AsyncIterable<readonly string[]>> {
  const type = 'application/x-ndjson'
  const { ApiError, ProtocolError } = await import('../../client/errors.ts')
  try {
    const input = { query: { ...query, format: 'ndjson' }, signal } as const
    const { body, headers } = await caller.open(operation, input, { accept: type })
    const { assertWhole } = await import('../../client/incomplete.ts')
    return wholeLines(body ?? [], (rows) => assertWhole(caller.request(operation, input), headers, rows))
  } catch (error) {
    // The published interface names csv alone: a platform that does not know ndjson gives its rows in JSON.
    const unknown =
      (error instanceof ApiError && !error.coded && [400, 406, 415, 422].includes(error.status)) ||
      (error instanceof ProtocolError && error.code === 'unexpected_type')
    if (!unknown) throw error
    return pagedTexts(caller, operation, query, signal)
  }
}

/** The lines of a stream; `check` is told how many rows came, and throws where there should be more. */
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
  // Not every server tells the length of a stream: what shows that one broke off may be its last line alone.
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

async function* pagedTexts(
  caller: Caller,
  operation: Learners,
  query: LearnersQuery,
  signal: AbortSignal,
): AsyncGenerator<string[]> {
  for await (const { data } of caller.pages(operation, { query, signal }))
    yield data.map((row) => jsonText(row))
}
