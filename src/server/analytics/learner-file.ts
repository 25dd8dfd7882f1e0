import type { Sql } from 'sql-template-tag'
import { csvRecord } from '../../codec/csv.ts'
import type { Cell, Database } from '../database/database.ts'
import { Streamed } from '../http/reply.ts'
import { columns, toRow } from './analytics-rows.ts'

/** How rows about learners become a file. */
export interface LearnerFile {
  /** What the file is called, without its ending. */
  readonly name: string
  readonly format: 'csv' | 'ndjson'
  /** CSV begins with a byte order mark, by which spreadsheets know UTF-8. */
  readonly bom: boolean
  /** CSV without the guard against formulas. */
  readonly raw: boolean
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

/** Rows about learners, and how each cell-by-cell row of the statement behind them becomes text: none, one or more lines. */
export interface LearnerRows {
  readonly statement: Sql
  readonly csv: (raw: boolean) => (cells: readonly Cell[]) => string
  readonly json: () => (cells: readonly Cell[]) => string
}

/** The rows of a statement that selects the columns of a LearnerRow. */
export function learnerRows(statement: Sql): LearnerRows {
  return {
    statement,
    csv: (raw) => (cells) => csvRecord(cells, raw, plain),
    json: () => (cells) => `${JSON.stringify(toRow(cells))}\n`,
  }
}

/** All rows as text, piece by piece, on a connection of their own that sees one snapshot. */
export function learnerFile(
  database: Database,
  rows: LearnerRows,
  { name, format, bom, raw }: LearnerFile,
): Streamed {
  const csv = format === 'csv'
  const encode = csv ? rows.csv(raw) : rows.json()
  const head = csv ? (bom ? '\ufeff' : '') + csvRecord(columns, true) : ''
  const headers = {
    'content-type': csv ? 'text/csv; charset=utf-8; header=present' : 'application/x-ndjson; charset=utf-8',
    'content-disposition': `attachment; filename="${name}.${csv ? 'csv' : 'ndjson'}"`,
  }
  return new Streamed(headers, chunks(database, rows.statement, head, encode))
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
