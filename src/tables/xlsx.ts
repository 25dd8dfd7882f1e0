import writeXlsxFile, { type Cell, type SheetData } from 'write-excel-file/node'
import { formatCount } from '../codec/display-text.ts'
import {
  assertWellFormed,
  type EncodedColumn,
  placeOf,
  type Sink,
  type TableEncoder,
  TableError,
  textOf,
  toCell,
  valueAt,
} from './column.ts'

/** All cells are in memory until the end. */
export const maxXlsxCells = 2_000_000
/** Includes the header (Excel specifications and limits). */
const maxSheetRows = 1_048_576
/** Maximum UTF-16 units of a cell's text. */
const maxTextLength = 32_767

const dayMs = 24 * 60 * 60 * 1000
/** 1 March 1900 to the end of 9999: earlier days differ by one, because Excel has a 29 February 1900. */
const firstMs = Date.UTC(1900, 2, 1)
const lastMs = Date.UTC(10_000, 0, 1)

/**
 * Creates an encoder of XLSX (ECMA-376, Office Open XML): a sheet with a frozen header, and a sheet with the dictionary of its
 * columns. Holds all rows; throws a TableError beyond `maxXlsxCells`, and for a text that a cell cannot hold. Times are in UTC.
 */
export function xlsxEncoder(columns: readonly EncodedColumn[], sink: Sink): TableEncoder {
  const maxRows = Math.min(Math.floor(maxXlsxCells / Math.max(columns.length, 1)), maxSheetRows - 1)
  const data: SheetData = [columns.map(({ name }) => headerCell(name))]
  return {
    rows: async (records) => {
      for (const record of records) {
        const row = data.length
        if (row > maxRows) {
          throw new TableError(
            'too_many_rows',
            `XLSX has at most ${formatCount(maxRows)} rows with ${formatCount(columns.length)} columns`,
            'Use -o parquet or csv, choose fewer columns with --columns, or narrow it with filters',
          )
        }
        data.push(columns.map((column) => cellOf(valueAt(record, column.path), row, column)))
      }
    },
    end: async () => {
      const book = writeXlsxFile([
        {
          data,
          sheet: 'Data',
          stickyRowsCount: 1,
          dateFormat: 'yyyy-mm-dd hh:mm:ss',
          columns: columns.map(({ name, type }) => ({ width: widthOf(name, type) })),
        },
        {
          data: dictionarySheet(columns),
          sheet: 'Columns',
          stickyRowsCount: 1,
          columns: [28, 12, 14, 80, 40].map((width) => ({ width })),
        },
      ])
      await sink(await book.toBuffer())
    },
  }
}

function widthOf(name: string, type: EncodedColumn['type']): number {
  return Math.max(Math.min(name.length + 2, 40), type === 'timestamp' ? 19 : type === 'string' ? 16 : 10)
}

function headerCell(text: string): Cell {
  return { value: xstring(text), type: String, fontWeight: 'bold' }
}

function dictionarySheet(columns: readonly EncodedColumn[]): SheetData {
  return [
    ['name', 'type', 'unit', 'meaning', 'nullMeans'].map(headerCell),
    ...columns.map(({ name, type, unit, meaning, nullMeans }) =>
      [name, type, unit, meaning, nullMeans].map((text) => (text ? xstring(text) : null)),
    ),
  ]
}

/** Returns a cell of the column's type; text for a value that is not of that type or that Excel cannot hold. */
function cellOf(value: unknown, row: number, column: EncodedColumn): Cell {
  if (value === null || value === undefined || value === '') return null
  const { type = typeof value === 'string' ? 'string' : typeof value === 'boolean' ? 'boolean' : 'number' } =
    column
  const cell = toCell(value, type)
  if (cell === undefined || cell === null) return textCell(textOf(value), row, column)
  if (typeof cell === 'string') return textCell(cell, row, column)
  // A number of Excel has 15 digits.
  if (
    typeof cell === 'bigint' ||
    (typeof cell === 'number' && Number.isInteger(cell) && Math.abs(cell) >= 1e15)
  ) {
    return textCell(textOf(value), row, column)
  }
  if (typeof cell === 'boolean' || (type !== 'timestamp' && type !== 'date')) return cell
  const time = type === 'date' ? cell * dayMs : cell
  if (time < firstMs || time >= lastMs) return textCell(textOf(value), row, column)
  return type === 'date' ? { value: new Date(time), type: Date, format: 'yyyy-mm-dd' } : new Date(time)
}

/** Returns a cell of text, which is never a formula. Throws a TableError for a text that is too long. */
function textCell(text: string, row: number, column: EncodedColumn): Cell {
  assertWellFormed(text, row, column, 'XLSX')
  if (astralNoncharacter.test(text)) {
    throw new TableError(
      'invalid_text',
      `Cannot write ${placeOf(row, column)} as XLSX: the text has a character that Unicode does not define`,
      'Leave the column out with --columns, or use -o parquet or csv',
    )
  }
  if (text.length > maxTextLength) {
    throw new TableError(
      'text_too_long',
      `Cannot write ${placeOf(row, column)} as XLSX: the text has ${formatCount(text.length)} characters, a cell holds ${formatCount(maxTextLength)}`,
      'Leave the column out with --columns, or use -o parquet or csv',
    )
  }
  return xstring(text)
}

// Controls and noncharacters, of which XML 1.0 cannot hold most and the library would remove the others, as it would U+FFFD; a
// carriage return, which XML readers turn into a line feed; and text that looks like such an escape.
const escapedCharacters =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufdd0-\ufdef\ufffd-\uffff]|_(?=x[0-9a-f]{4}_)/gi
/** Noncharacters beyond U+FFFF, which the library would remove and no escape names. */
const astralNoncharacter = /(?![\ufdd0-\uffff])\p{Noncharacter_Code_Point}/u
/** Names that the library would find in the prototype of its table of texts. */
const inherited: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(Object.prototype))

/** Escapes a text as `_x000D_` (ECMA-376 part 1, 22.9.2.19, ST_Xstring), which Excel shows as the character. */
function xstring(text: string): string {
  const escaped = text.replace(escapedCharacters, escapedUnit)
  return inherited.has(escaped) ? escapedUnit(escaped) + escaped.slice(1) : escaped
}

function escapedUnit(text: string): string {
  return `_x${text.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`
}
