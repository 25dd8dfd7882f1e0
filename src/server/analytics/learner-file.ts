import type { Sql } from 'sql-template-tag'
import { csvRecord } from '../../codec/csv.ts'
import type { Cell, Database } from '../database/database.ts'
import { Streamed } from '../http/reply.ts'
import { columns, toRow } from './analytics-rows.ts'

/** Options of a file of rows. */
export interface RowFile {
  /** File name without extension. */
  readonly name: string
  /** True to begin CSV with a byte order mark, by which spreadsheets recognise UTF-8. */
  readonly bom: boolean
  /** True for CSV without the guard against formula injection. */
  readonly raw: boolean
}

/** Options of a file of learners. */
export interface LearnerFile extends RowFile {
  readonly format: 'csv' | 'ndjson'
}

/** Approximate number of characters per chunk. */
const pieceLength = 64 * 1024
// The text columns; all others are ids, times, numbers or enumerated values.
const freeText: readonly string[] = [
  'email',
  'firstName',
  'lastName',
  'externalId',
  'courseTitle',
  'courseExternalId',
]
const plain = columns.map((name) => !freeText.includes(name))

/** A statement, and a function that turns each row's cells into zero or more lines of text. */
export interface FileRows {
  readonly columns: readonly string[]
  readonly statement: Sql
  readonly csv: (raw: boolean) => (cells: readonly Cell[]) => string
}

/** Rows of learners, which can be NDJSON as well. */
export interface LearnerRows extends FileRows {
  readonly json: () => (cells: readonly Cell[]) => string
}

/** Returns the rows of a statement that selects the columns of a LearnerRow. */
export function learnerRows(statement: Sql): LearnerRows {
  return {
    columns,
    statement,
    csv: (raw) => (cells) => csvRecord(cells, raw, plain),
    json: () => (cells) => `${JSON.stringify(toRow(cells))}\n`,
  }
}

/** Streams all rows as text, from one snapshot on a separate connection. */
export function learnerFile(database: Database, rows: LearnerRows, file: LearnerFile): Streamed {
  if (file.format === 'csv') return csvFile(database, rows, file)
  const headers = fileHeaders('application/x-ndjson; charset=utf-8', `${file.name}.ndjson`)
  return new Streamed(headers, chunks(database, rows.statement, '', rows.json()))
}

/** Streams all rows as CSV, from one snapshot on a separate connection. */
export function csvFile(database: Database, rows: FileRows, { name, bom, raw }: RowFile): Streamed {
  const head = (bom ? '\ufeff' : '') + csvRecord(rows.columns, true)
  const headers = fileHeaders('text/csv; charset=utf-8; header=present', `${name}.csv`)
  return new Streamed(headers, chunks(database, rows.statement, head, rows.csv(raw)))
}

function fileHeaders(type: string, name: string) {
  return { 'content-type': type, 'content-disposition': `attachment; filename="${name}"` }
}

async function* chunks(
  database: Database,
  statement: Sql,
  head: string,
  encode: (cells: readonly Cell[]) => string,
) {
  let text = head
  for await (const rows of database.stream(statement)) {
    for (const cells of rows) {
      text += encode(cells)
      if (text.length < pieceLength) continue
      yield text
      text = ''
    }
    // Yields empty chunks, too: with a selective filter this is where a disconnected client is noticed.
    yield text
    text = ''
  }
  if (text !== '') yield text
}
