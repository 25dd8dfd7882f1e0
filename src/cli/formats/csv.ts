import { valueAt } from '../columns.ts'
import type { Format } from './format.ts'

// What a spreadsheet would take for a formula: the ASCII signs, tab and line ends, and the full-width signs.
const formula = /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/

/**
 * RFC 4180 CSV with CRLF line ends and a header, also for an empty list. Nothing is the empty cell; objects and
 * arrays are JSON in theirs. Text that a spreadsheet would take for a formula gets one `'` in front, which a reader
 * takes off again (api.md §3, "Formula guard").
 */
export function csv(columns: readonly string[]): Format {
  const header = csvLine(columns)
  const line = (value: unknown) => csvLine(columns.map((column) => valueAt(value, column)))
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

/** One record of any values, with its CRLF. */
export function csvLine(values: readonly unknown[]): string {
  return `${values.map(cell).join(',')}\r\n`
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const guarded = formula.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded
}
