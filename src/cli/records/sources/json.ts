import { addGuard } from '../../../codec/csv.ts'
import { isJsonObject, JsonLimitError, type JsonObject, parseJson } from '../../../codec/json-text.ts'
import { valueAt } from '../../../tables/column.ts'
import {
  CellError,
  type CellForm,
  cellOf,
  dayIn,
  type MeaningOf,
  meaningsOf,
  readCell,
  replaceItems,
  timeIn,
} from '../../dataset/cell.ts'
import type { Column } from '../../dataset/column.ts'
import { type Dataset, shownFields } from '../../dataset/dataset.ts'
import { setAt } from '../../output/columns.ts'
import { UsageError } from '../../terminal/errors.ts'
import { type ImportFile, sentence } from './file.ts'
import { addedColumns, meantColumn } from './header.ts'
import type { Reading, Row, RowProblem, Rows } from './rows.ts'

/** Maximum characters of one JSON document, which is parsed at once; JSONL has no such limit. */
const maximumCharacters = 64 * 1024 * 1024
const maximumLineCharacters = 4 * 1024 * 1024

interface JsonMeaning extends Pick<Reading, 'map' | 'now' | 'dateFormat'> {
  readonly meanings: ReadonlyMap<string, MeaningOf>
}

/**
 * Reads the rows of a JSON array or of JSON lines (https://jsonlines.org): each is a record of the API, or a flat
 * one.
 */
export async function jsonRows(file: ImportFile, dataset: Dataset, reading: Reading): Promise<Rows> {
  const header = dataset.columns.map(({ name }) => name)
  const values = file.format === 'json' ? itemsOf(file) : jsonLines(file)
  const meanings = new Map(
    dataset.columns.flatMap((column) => {
      const texts = reading.values?.get(column.path)
      return texts ? [[column.path, meaningsOf(column, texts)] as const] : []
    }),
  )
  return {
    header,
    paths: new Set(dataset.columns.map(({ path }) => path)),
    rows: rowsOf(values, dataset, { ...reading, meanings }),
    ...(file.placeOf && { placeOf: file.placeOf }),
  }
}

async function* rowsOf(
  values: AsyncIterable<{ line: number; value: unknown; problem?: string }>,
  dataset: Dataset,
  reading: JsonMeaning,
): AsyncGenerator<readonly Row[]> {
  for await (const { line, value, problem } of values) {
    if (problem !== undefined || !isJsonObject(value)) {
      const message = problem ?? 'must be an object'
      yield [{ line, record: {}, problems: [{ column: null, code: 'invalid_json', message }], cells: [] }]
    } else yield [rowOf(line, value, dataset, reading)]
  }
}

function rowOf(
  line: number,
  value: JsonObject,
  dataset: Dataset,
  { map, meanings, now, dateFormat }: JsonMeaning,
): Row {
  const replaced: Record<string, string> = {}
  const record: Record<string, unknown> = {}
  const problems: RowProblem[] = []
  const nested = new Set(dataset.columns.map(({ path }) => path.split('.')[0] ?? ''))
  const shown = shownFields(dataset)
  for (const [name, member] of Object.entries(value)) {
    // An object is a nested field of that name; a single value may use a flag's name.
    const isNested = isJsonObject(member) && nested.has(name)
    const path = map.has(name) ? map.get(name) : isNested ? undefined : meantColumn(dataset, name)?.path
    if (path === null || addedColumns.some((added) => added === name)) continue
    if (path !== undefined) setAt(record, path.split('.'), member)
    else if (isNested) setAt(record, [name], member)
    else if (!shown.includes(name)) {
      problems.push({ column: name, code: 'unknown_field', message: 'is not a known field' })
    }
  }
  for (const column of dataset.columns) {
    const { kind, name, path, required, initial } = column
    const meaningOf = meanings.get(path)
    if (meaningOf) replaceValue(record, column, meaningOf, { now, dateFormat }, replaced)
    const value = valueAt(record, path)
    if (value === null && !required) setAt(record, path.split('.'), initial)
    if ((kind !== 'time' && kind !== 'day') || typeof value !== 'string') continue
    try {
      const read = kind === 'time' ? timeIn : dayIn
      setAt(record, path.split('.'), read(value, { now, dateFormat }))
    } catch (error) {
      if (!(error instanceof CellError)) throw error
      const { message, guess } = error
      problems.push({ column: name, value, code: 'invalid_type', message, ...(guess && { guess }) })
    }
  }
  const cells = recordCells(dataset, record)
  return { line, record, problems, cells, ...(Object.keys(replaced).length > 0 && { replaced }) }
}

function replaceValue(
  record: Record<string, unknown>,
  column: Column,
  meaningOf: MeaningOf,
  form: CellForm,
  replaced: Record<string, string>,
): void {
  const { path } = column
  const value = valueAt(record, path)
  if (value === undefined || value === null) return
  const text = String(value).trim()
  const meaning = typeof value === 'object' ? undefined : meaningOf(text)
  if (meaning !== undefined) replaced[path] = text
  const read =
    meaning === undefined ? replaceItems(column, value, meaningOf, form) : readCell(column, meaning, form)
  setAt(record, path.split('.'), read)
}

/** Returns the cells of a record, escaped so that reading them gives the same values. */
function recordCells({ columns }: Dataset, record: JsonObject): string[] {
  return columns.map((column) => {
    const cell = cellOf(column, valueAt(record, column.path))
    return typeof cell === 'string' ? addGuard(cell) : String(cell ?? '')
  })
}

async function* itemsOf(file: ImportFile): AsyncGenerator<{ line: number; value: unknown }> {
  let text = ''
  for await (const piece of file.text()) {
    text += piece
    if (text.length > maximumCharacters) {
      throw new UsageError(`${sentence(file.name)} is larger than 64 MiB`, {
        hint: 'Use JSONL, one object a line, which has no limit: jq -c ".[]" file.json',
      })
    }
  }
  const parsed = parsedDocument(file.name, text)
  const items = isJsonObject(parsed) ? [parsed] : parsed
  if (!Array.isArray(items)) throw new UsageError(`${sentence(file.name)} must be an array of objects`)
  for (const [index, value] of items.entries()) yield { line: index + 1, value }
}

function parsedDocument(name: string, text: string): unknown {
  try {
    return parseJson(text)
  } catch (cause) {
    const message = cause instanceof JsonLimitError ? cause.message : 'it is not JSON'
    throw new UsageError(`Cannot read ${name}: ${message}`, { code: 'invalid_json', cause })
  }
}

/** Parses the lines of a file; a `problem` says why one is not JSON. */
export async function* jsonLines(
  file: ImportFile,
): AsyncGenerator<{ line: number; value: unknown; problem?: string }> {
  let rest = ''
  let line = 0
  const parsed = (text: string) => {
    try {
      return { line, value: parseJson(text) }
    } catch (error) {
      return { line, value: null, problem: error instanceof JsonLimitError ? error.message : 'is not JSON' }
    }
  }
  for await (const piece of file.text()) {
    const lines = (rest + piece).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > maximumLineCharacters) {
      throw new UsageError(`${sentence(file.name)}:${line + lines.length + 1}: the line is longer than 4 MiB`)
    }
    for (const text of lines) {
      line += 1
      if (text.trim() !== '') yield parsed(text)
    }
  }
  line += 1
  if (rest.trim() !== '') yield parsed(rest)
}
