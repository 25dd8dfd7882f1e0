import { visible } from '../../../codec/visible.ts'
import { type Column, cellAt, cellText } from '../columns.ts'
import type { Format } from './format.ts'

/**
 * Tab-separated lines without a header, every value in full: what a table becomes in a pipe. Tab, line ends,
 * backslash and all other control characters are escaped, so that a line is a record.
 */
export function tsv(columns: readonly Column[]): Format {
  const line = (value: unknown) =>
    `${columns.map((column) => visible(cellText(cellAt(value, column)).replaceAll('\\', '\\\\'))).join('\t')}\n`
  return { one: line, list: () => ({ rows: (values) => values.map(line).join(''), end: () => '' }) }
}
