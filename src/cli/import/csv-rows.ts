import { CsvError, parse } from 'csv-parse'
import { CellError, readCell } from '../dataset/cell.ts'
import type { Column } from '../dataset/column.ts'
import type { Dataset } from '../dataset/dataset.ts'
import { separatorOf } from '../export/csv-records.ts'
import { setAt } from '../output/columns.ts'
import { UsageError } from '../terminal/errors.ts'
import { columnsIn } from './header.ts'
import { type ImportFile, sentence } from './import-file.ts'
import type { Reading, Row, RowProblem, Rows } from './row.ts'

const maximumHeadCharacters = 64 * 1024
const maximumRecordCharacters = 4 * 1024 * 1024

/** A record of csv-parse with the line on which it ends. */
interface Parsed {
  readonly record: readonly string[]
  readonly info: { readonly lines: number; readonly empty_lines: number }
}

/**
 * The rows of a CSV (RFC 4180), whose first record names the columns, in any order. Throws a UsageError where there is no
 * header, its names cannot be understood, or a quote stands where none may.
 */
export async function csvRows(file: ImportFile, dataset: Dataset, reading: Reading): Promise<Rows> {
  const { map, delimiter, clearEmpty } = reading
  const head = await headOf(file)
  const records = recordsOf(file, delimiter ?? (file.format === 'tsv' ? '\t' : head.separator), head.fromLine)
  const first = await records.next()
  if (first.done) throw new UsageError(`${sentence(file.name)} has no header`)
  const header = first.value.record.map((name) => name.trim())
  const columns = columnsIn(dataset, header, map, file.name)
  return {
    header,
    paths: new Set(columns.flatMap((column) => (column ? [column.path] : []))),
    rows: rowsOf(
      records,
      { columns, clears: clearEmpty ? clearedBy(dataset) : () => false },
      first.value.info,
    ),
  }
}

/** How cells become a record. */
interface Meaning {
  /** The column of each cell; null for one that is left out. */
  readonly columns: readonly (Column | null)[]
  /** Whether an empty cell resets its field. */
  readonly clears: (column: Column) => boolean
}

/** An empty cell resets whatever is no part of what tells the record from others, nor a secret. */
function clearedBy({ keys, references }: Dataset): Meaning['clears'] {
  const kept = new Set([...keys.flat(), ...Object.keys(references)])
  return ({ path, required, secret }) => !required && !secret && !kept.has(path)
}

async function* rowsOf(
  records: AsyncGenerator<Parsed>,
  meaning: Meaning,
  header: Parsed['info'],
): AsyncGenerator<Row> {
  let before = header
  for await (const { record: cells, info } of records) {
    // Empty lines are no rows, but stand in between.
    const line = before.lines + 1 + info.empty_lines - before.empty_lines
    before = info
    yield rowOf(line, cells, meaning)
  }
}

function rowOf(line: number, cells: readonly string[], { columns, clears }: Meaning): Row {
  const record: Record<string, unknown> = {}
  const problems: RowProblem[] = []
  if (cells.length !== columns.length) {
    const message = `has ${cells.length} cells, but the header has ${columns.length}`
    problems.push({ column: null, code: 'ragged_row', message })
  }
  for (const [index, column] of columns.entries()) {
    const cell = cells[index]
    if (column === null || cell === undefined) continue
    try {
      const read = readCell(column, cell)
      const value = read === undefined && clears(column) ? column.initial : read
      if (value !== undefined) setAt(record, column.path.split('.'), value)
    } catch (error) {
      if (!(error instanceof CellError)) throw error
      const value = column.secret ? undefined : cell
      problems.push({ column: column.name, value, code: 'invalid_type', message: error.message })
    }
  }
  return { line, record, problems, cells }
}

async function* recordsOf(file: ImportFile, delimiter: string, fromLine: number): AsyncGenerator<Parsed> {
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
  // A fault of the file is thrown by the parser, which is being read.
  pipeline(Readable.from(file.text()), parser, () => {})
  try {
    // With `info`, this is what csv-parse gives; its types do not follow its options.
    for await (const parsed of parser) yield parsed as Parsed
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

/** What the beginning of a file tells: between cells the most frequent separator, unless Excel's `sep=;` says it. */
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
