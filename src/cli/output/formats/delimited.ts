import { type CsvValue, csvRecord, isGuarded } from '../../../codec/csv.ts'
import { escapeHidden } from '../../../codec/display-text.ts'
import { jsonText } from '../../../codec/json-text.ts'
import { valueAt } from '../../../tables/column.ts'
import { type Column, cellText } from '../columns.ts'
import type { Format } from './format.ts'

/**
 * Writes CSV (RFC 4180) with CRLF line ends and a header, even for an empty list. null is an empty cell;
 * objects and arrays are JSON. Unless `raw`, a text that a spreadsheet would take for a formula gets one `'`
 * in front, also in the header, which may have names of users' own; a reader removes it.
 */
export function csv(columns: readonly Column[], raw = false, separator = ','): Format {
  const labels = columns.map(({ label }) => label)
  const header = csvRecord(labels, raw, undefined, separator)
  const countGuarded = (cells: readonly CsvValue[]) =>
    raw ? 0 : cells.filter((cell) => typeof cell === 'string' && isGuarded(cell)).length
  const recordOf = (cells: readonly CsvValue[]) => csvRecord(cells, raw, undefined, separator)
  const cellsOf = (value: unknown) => columns.map((column) => cellOf(valueAt(value, column.path)))
  return {
    one: (value) => header + recordOf(cellsOf(value)),
    list: () => {
      let before = header
      let guarded = countGuarded(labels)
      return {
        rows: (values) => {
          if (values.length === 0) return ''
          let text = before
          for (const value of values) {
            const cells = cellsOf(value)
            guarded += countGuarded(cells)
            text += recordOf(cells)
          }
          before = ''
          return text
        },
        end: () => before,
        guarded: () => guarded,
      }
    },
  }
}

function cellOf(value: unknown): CsvValue {
  if (value === null || value === undefined) return null
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'string') return value
  // As text, a negative bigint would get the guard against formulas.
  return typeof value === 'bigint' ? value : jsonText(value)
}

/**
 * Writes tab-separated lines without a header, with complete values: the table format in a pipe. Escapes
 * tabs, line ends, backslashes and other control characters, so that each line is a record.
 */
export function tsv(columns: readonly Column[]): Format {
  const line = (value: unknown) =>
    `${columns.map((column) => escapeHidden(cellText(valueAt(value, column.path)).replaceAll('\\', '\\\\'))).join('\t')}\n`
  return { one: line, list: () => ({ rows: (values) => values.map(line).join(''), end: () => '' }) }
}
