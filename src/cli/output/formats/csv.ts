import { type CsvValue, csvRecord } from '../../../codec/csv.ts'
import { jsonText } from '../../../codec/json-text.ts'
import { type Column, cellAt } from '../columns.ts'
import type { Format } from './format.ts'

/**
 * RFC 4180 CSV with CRLF line ends and a header, also for an empty list. Nothing is the empty cell; objects and
 * arrays are JSON in theirs. Text that a spreadsheet would take for a formula gets one `'` in front, which a reader
 * takes off again; `raw` leaves that out.
 */
export function csv(columns: readonly Column[], raw = false): Format {
  const header = csvRecord(
    columns.map(({ label }) => label),
    true,
  )
  const line = (value: unknown) =>
    csvRecord(
      columns.map((column) => cellOf(cellAt(value, column))),
      raw,
    )
  return {
    one: (value) => header + line(value),
    list: () => {
      let before = header
      return {
        rows: (values) => {
          if (values.length === 0) return ''
          const text = before + values.map(line).join('')
          before = ''
          return text
        },
        end: () => before,
      }
    },
  }
}

function cellOf(value: unknown): CsvValue {
  if (value === null || value === undefined) return null
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'string') return value
  // It would be text to the guard, which numbers are none.
  return typeof value === 'bigint' ? value : jsonText(value)
}
