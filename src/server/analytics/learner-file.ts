import type { Sql } from 'sql-template-tag'
import { csvRecord } from '../../codec/csv.ts'
import type { Cell, Database } from '../database/database.ts'
import { Streamed } from '../http/reply.ts'
import { columns, toRow } from './analytics-rows.ts'

/** How rows become a file. */
export interface RowFile {
  /** What the file is called, without its ending. */
  readonly name: string
  /** CSV begins with a byte order mark, by which spreadsheets know UTF-8. */
  readonly bom: boolean
  /** CSV without the guard against formulas. */
  readonly raw: boolean
}

/** How rows about learners become a file. */
export interface LearnerFile extends RowFile {
  readonly format: 'csv' | 'ndjson'
}

/** Characters of a piece, more or less. */
const pieceLength = 64 * 1024
// Everything else is an id, a time, a number or a choice of ours.
const freeText: readonly string[] = [
  'email',
  'firstName',
  'lastName',
  'externalId',
  'courseTitle',
  'courseExternalId',
]
const plain = columns.map((name) => !freeText.includes(name))

/** The rows of a statement, and how each, cell by cell, becomes text: none, one or more lines. */
export interface FileRows {
  readonly columns: readonly string[]
  readonly statement: Sql
  readonly csv: (raw: boolean) => (cells: readonly Cell[]) => string
}

/** Rows about learners, which are lines of JSON, too. */
export interface LearnerRows extends FileRows {
  readonly json: () => (cells: readonly Cell[]) => string
}

/** The rows of a statement that selects the columns of a LearnerRow. */
export function learnerRows(statement: Sql): LearnerRows {
  return {
    columns,
    statement,
    csv: (raw) => (cells) => csvRecord(cells, raw, plain),
    json: () => (cells) => `${JSON.stringify(toRow(cells))}\n`,
  }
}

/** All rows as text, piece by piece, on a connection of their own that sees one snapshot. */
export function learnerFile(database: Database, rows: LearnerRows, file: LearnerFile): Streamed {
  if (file.format === 'csv') return csvFile(database, rows, file)
  const headers = fileHeaders('application/x-ndjson; charset=utf-8', `${file.name}.ndjson`)
  return new Streamed(headers, chunks(database, rows.statement, '', rows.json()))
}

/** All rows as CSV, piece by piece, on a connection of their own that sees one snapshot. */
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
    // Also nothing: where a filter leaves few rows, a reader who has gone is not searched for any longer.
    yield text
    text = ''
  }
  if (text !== '') yield text
}
