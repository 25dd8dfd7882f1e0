import { jsonText } from '../../codec/json-text.ts'
import { type Column, cellText, valueAt } from '../output/columns.ts'
import type { ListEncoder } from '../output/formats/format.ts'
import { CommandError } from '../terminal/errors.ts'

/** Maximum characters of a cell in Google Sheets. */
const maxCellLength = 50_000

/**
 * Encodes rows as one `RowData` of the Google Sheets API per line, the first with the names of the columns. Numbers and
 * booleans keep their type; ids and all other values are text, which is never taken for a formula.
 */
export function sheetRows(columns: readonly Column[]): ListEncoder {
  let written = 0
  const lineOf = (cells: readonly object[]) => `${jsonText({ values: cells })}\n`
  const header = () => lineOf(columns.map(({ label }) => ({ userEnteredValue: { stringValue: label } })))
  const lead = () => (written === 0 ? header() : '')
  return {
    rows: (values) => {
      if (values.length === 0) return ''
      let text = lead()
      for (const value of values) {
        written += 1
        text += lineOf(columns.map((column) => cellOf(column, valueAt(value, column.path), written)))
      }
      return text
    },
    end: lead,
  }
}

/** Returns a `CellData`; an empty one clears the cell. */
function cellOf({ path, label }: Column, value: unknown, row: number): object {
  const isId = /(?:^|[.a-z])(?:id|Id)$/.test(path)
  if (typeof value === 'boolean') return { userEnteredValue: { boolValue: value } }
  if (typeof value === 'number' && !isId) return { userEnteredValue: { numberValue: value } }
  const text = cellText(value)
  if (text === '') return {}
  if (text.length <= maxCellLength) return { userEnteredValue: { stringValue: text } }
  throw new CommandError('cell_too_long', 'failure', `${label} of row ${row} is too long for a cell`, {
    why: [`It has ${text.length} characters; Google Sheets allows ${maxCellLength}`],
    hint: 'Choose other columns with --columns, or write a file with --file',
  })
}
