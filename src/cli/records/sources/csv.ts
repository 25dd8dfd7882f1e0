import { CsvError, parse } from 'csv-parse'
import { removeGuard, separatorOf } from '../../../codec/csv.ts'
import {
  CellError,
  type CellForm,
  type MeaningOf,
  meaningsOf,
  readCell,
  replaceItems,
} from '../../dataset/cell.ts'
import type { Column } from '../../dataset/column.ts'
import type { Dataset } from '../../dataset/dataset.ts'
import { setAt } from '../../output/columns.ts'
import { UsageError } from '../../terminal/errors.ts'
import { type ImportFile, sentence } from './file.ts'
import { columnsIn, headerName, isMappingCell, type ValueMap } from './header.ts'
import type { Reading, Row, RowProblem, Rows } from './rows.ts'

const maximumHeadCharacters = 64 * 1024
const maximumRecordCharacters = 4 * 1024 * 1024
const recordsAtOnce = 500

interface Parsed {
  readonly record: readonly string[]
  readonly info: { readonly lines: number; readonly empty_lines: number }
}

/** The first record names the columns. */
export interface Table {
  readonly header: readonly string[]
  readonly delimiter: string
  /** Records of separators alone are left out: spreadsheets add them below the last row. */
  readonly records: AsyncIterable<readonly { readonly line: number; readonly cells: readonly string[] }[]>
  /** Closes the file, if not all records were read. */
  close(): Promise<void>
}

/** RFC 4180. `delimiter` is by default that of the header. Throws a UsageError for no header or a misplaced quote. */
export async function csvTable(file: ImportFile, delimiter?: string): Promise<Table> {
  const head = await headOf(file)
  const separator = delimiter ?? (file.format === 'tsv' ? '\t' : head.separator)
  const parsed = recordsOf(file, separator, head.fromLine)
  const { value: start } = await parsed.next()
  const [first, ...others] = start ?? []
  if (!first) throw new UsageError(`${sentence(file.name)} has no header`)
  return {
    header: first.record.map((name) => (isMappingCell(name) ? name : headerName(name))),
    delimiter: separator,
    records: numbered(first.info, others, parsed),
    close: async () => void (await parsed.return(undefined)),
  }
}

/** Throws as csvTable does. */
export async function csvHeader(file: ImportFile, delimiter?: string): Promise<readonly string[]> {
  const { header, close } = await csvTable(file, delimiter)
  await close()
  return header
}

async function* numbered(
  header: Parsed['info'],
  first: readonly Parsed[],
  others: AsyncIterable<readonly Parsed[]>,
): Table['records'] {
  let before = header
  const read = ({ record: cells, info }: Parsed) => {
    // Empty lines are not rows, but count as lines.
    const line = before.lines + 1 + info.empty_lines - before.empty_lines
    before = info
    return cells.every((cell) => cell.trim() === '') ? [] : [{ line, cells }]
  }
  yield first.flatMap(read)
  for await (const records of others) yield records.flatMap(read)
}

/**
 * Reads the rows of a CSV, whose header names the columns of a dataset in any order. Throws a UsageError if it has
 * unknown names.
 */
export async function csvRows(file: ImportFile, dataset: Dataset, reading: Reading): Promise<Rows> {
  const { map, values, clearEmpty, now, dateFormat } = reading
  const { header, delimiter, records } = await csvTable(file, reading.delimiter)
  const columns = columnsIn(dataset, header, map, file.name)
  const clears = clearEmpty ? clearedBy(dataset) : () => false
  const places = columns.map(
    (column): CellPlace | null =>
      column && {
        column,
        steps: column.path.split('.'),
        empty: clears(column) ? column.initial : undefined,
        meaningOf: meaningIn(column, values),
      },
  )
  const form = { now, dateFormat, decimalComma: delimiter !== ',' }
  return {
    header,
    delimiter,
    labels: new Map(
      header.flatMap((text, index) => {
        const name = columns[index]?.name
        return map.has(text) && name !== undefined ? [[name, text]] : []
      }),
    ),
    paths: new Set(columns.flatMap((column) => (column ? [column.path] : []))),
    rows: rowsOf(records, {
      places,
      form,
      unnamed: header.flatMap((name, index) => (name === '' ? [index] : [])),
    }),
  }
}

async function* rowsOf(records: Table['records'], meaning: Meaning): AsyncGenerator<readonly Row[]> {
  for await (const some of records) yield some.map(({ line, cells }) => rowOf(line, cells, meaning))
}

interface Meaning {
  /** Null for a cell that is left out. */
  readonly places: readonly (CellPlace | null)[]
  readonly unnamed: readonly number[]
  readonly form: CellForm
}

interface CellPlace {
  readonly column: Column
  readonly steps: readonly string[]
  /** Value of an empty cell; undefined to leave the field out. */
  readonly empty: unknown
  readonly meaningOf: MeaningOf | undefined
}

function meaningIn(column: Column, values: ValueMap | undefined): MeaningOf | undefined {
  const meanings = values?.get(column.path)
  return meanings && meaningsOf(column, meanings)
}

/** Columns that are not required, not secret and no part of a key. */
function clearedBy({ keys }: Dataset): (column: Column) => boolean {
  const kept = new Set(keys.flat())
  return ({ path, required, secret }) => !required && !secret && !kept.has(path)
}

function rowOf(line: number, cells: readonly string[], { places, unnamed, form }: Meaning): Row {
  const record: Record<string, unknown> = {}
  let replaced: Record<string, string> | undefined
  const problems: RowProblem[] = []
  if (cells.length !== places.length) {
    const message = `has ${cells.length} cells, but the header has ${places.length}`
    problems.push({ column: null, code: 'ragged_row', message })
  }
  for (const index of unnamed) {
    const value = cells[index]?.trim()
    if (!value) continue
    problems.push({
      column: null,
      value,
      code: 'unnamed_column',
      message: 'must have no value in a column without a name',
    })
  }
  for (let index = 0; index < places.length; index += 1) {
    const cell = cells[index]
    const place = places[index]
    if (!place || cell === undefined) continue
    const { column, steps, empty, meaningOf } = place
    try {
      const text = meaningOf ? removeGuard(cell).trim() : cell
      const meaning = meaningOf?.(text)
      if (meaning !== undefined) replaced = { ...replaced, [column.path]: text }
      const whole = readCell(column, meaning ?? cell, form)
      const read = meaningOf && meaning === undefined ? replaceItems(column, whole, meaningOf, form) : whole
      const value = read === undefined ? empty : read
      if (value !== undefined) setAt(record, steps, value)
    } catch (error) {
      if (!(error instanceof CellError)) throw error
      const value = column.secret ? undefined : cell
      const { message, guess } = error
      problems.push({ column: column.name, value, code: 'invalid_type', message, ...(guess && { guess }) })
    }
  }
  return { line, record, problems, cells, ...(replaced && { replaced }) }
}

async function* recordsOf(
  file: ImportFile,
  delimiter: string,
  fromLine: number,
): AsyncGenerator<readonly Parsed[], undefined> {
  const parser = parse({
    delimiter,
    from_line: fromLine,
    bom: true,
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: maximumRecordCharacters,
  })
  const { pipeline, Readable } = await import('node:stream')
  // The loop below receives errors from the parser.
  pipeline(Readable.from(file.text()), parser, () => {})
  try {
    // csv-parse yields this shape with `info`; its types do not follow its options.
    for await (const parsed of parser) {
      const records = [parsed as Parsed]
      while (records.length < recordsAtOnce) {
        const next = parser.read() as Parsed | null
        if (next === null) break
        records.push(next)
      }
      yield records
    }
  } catch (error) {
    if (error instanceof CsvError) throw unreadable(file.name, error)
    throw error
  }
}

function unreadable(name: string, error: CsvError): UsageError {
  const { code, lines } = error
  const reasons: Readonly<Record<string, string>> = {
    CSV_QUOTE_NOT_CLOSED: 'a quoted cell has no closing quote',
    INVALID_OPENING_QUOTE: 'a quote stands inside a cell that is not quoted',
    CSV_INVALID_CLOSING_QUOTE: 'text follows the closing quote of a cell',
    CSV_MAX_RECORD_SIZE: 'a row is longer than 4 MiB; a closing quote may be missing',
  }
  const line = typeof lines === 'number' ? `:${lines}` : ''
  return new UsageError(`${sentence(name)}${line}: ${reasons[code] ?? error.message}`, {
    code: 'invalid_csv',
    cause: error,
    hint: 'Put the cell in quotes, and write each quote in it twice: "5"" disk"',
  })
}

/** Returns the separator of a file: the one that Excel's `sep=;` names, else the most frequent one between cells. */
async function headOf(file: ImportFile): Promise<{ readonly separator: string; readonly fromLine: number }> {
  let head = ''
  for await (const piece of file.text()) {
    head += piece
    if (/[\r\n]\S/.test(head) || head.length > maximumHeadCharacters) break
  }
  const [line = ''] = head.split(/\r?\n|\r/, 1)
  const [, said] = /^sep=(.)$/.exec(line) ?? []
  return said === undefined ? { separator: separatorOf(line), fromLine: 1 } : { separator: said, fromLine: 2 }
}
