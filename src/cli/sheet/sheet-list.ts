import { jsonText } from '../../codec/json-text.ts'
import type { Context } from '../command/context.ts'
import { type Column, cellText, valueAt } from '../output/columns.ts'
import type { ListEncoder } from '../output/formats/format.ts'
import { cellColumns, type Shape } from '../output/output.ts'
import { CommandError } from '../terminal/errors.ts'
import { pluralise } from '../terminal/format-text.ts'
import { createProgressLine } from '../terminal/progress-line.ts'
import type { SheetPlace } from './sheet-flag.ts'
import { openSheet } from './sheet-target.ts'

/** Maximum characters of a cell in Google Sheets. */
const maxCellLength = 50_000

/**
 * Replaces a tab by the pages of a list. An error of the pages leaves the tab unchanged.
 */
export async function writeList(
  context: Context,
  place: SheetPlace,
  pages: AsyncIterable<readonly unknown[]>,
  shape: Shape,
): Promise<void> {
  const { io, settings, output } = context
  const tab = await openSheet(context, place)
  const line = await createProgressLine(io, 'rows', null)
  let encoder: ListEncoder | null = null
  let written = 0
  try {
    for await (const rows of pages) {
      io.signal.throwIfAborted()
      encoder ??= sheetRows(cellColumns(settings, rows, shape))
      await tab.write(Buffer.from(encoder.rows(rows)))
      written += rows.length
      await line.update(written)
    }
    encoder ??= sheetRows(cellColumns(settings, [], shape))
    await tab.write(Buffer.from(encoder.end()))
    io.signal.throwIfAborted()
    await tab.finish()
  } finally {
    line.stop()
  }
  await output.done(`Exported ${pluralise(written, 'row')} to ${tab.name}`)
}

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
