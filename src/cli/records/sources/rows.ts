import type { JsonObject } from '../../../codec/json-text.ts'
import type { DateFormat } from '../../dataset/cell.ts'
import type { Column } from '../../dataset/column.ts'
import type { ImportFile } from './file.ts'
import type { ColumnMap, ValueMap } from './header.ts'

/** A problem that keeps a row from being imported. */
export interface RowProblem {
  /** Column, or field of a record; null for the whole row. */
  readonly column: string | null
  /** Value as written in the file; undefined if missing or secret. */
  readonly value?: string | undefined
  /** Text that the mapping reads in place of the value. */
  readonly meaning?: string
  readonly code: string
  /** Follows the column name: `must be a number`. */
  readonly message: string
  /** End of the message: `; did you mean learner?`. */
  readonly guess?: string
}

export interface Row {
  /** First line of the row, from 1; in a JSON array the number of the item. */
  readonly line: number
  /** Values that could be read. */
  readonly record: JsonObject
  readonly problems: readonly RowProblem[]
  /** Cells in the order of `Rows.header`, as in the file. */
  readonly cells: readonly string[]
  /** Texts that the mapping replaced, by path. */
  readonly replaced?: Readonly<Record<string, string>>
}

export function asWritten(
  { replaced }: Pick<Row, 'replaced'>,
  column: Pick<Column, 'path'> | undefined,
  value: string | undefined,
): Pick<RowProblem, 'value' | 'meaning'> {
  const text = column && replaced?.[column.path]
  return text === undefined || value === undefined ? { value } : { value: text, meaning: value }
}

export interface Rows {
  readonly header: readonly string[]
  /** Names in the file of mapped columns, by column name. */
  readonly labels?: ReadonlyMap<string, string>
  /** Returns the place of the row with this `line`, if that is not its line in the file. */
  readonly placeOf?: ImportFile['placeOf']
  readonly delimiter?: string
  readonly paths: ReadonlySet<string>
  /** Rows in chunks, since iterating asynchronously costs as much per turn as reading a row. */
  readonly rows: AsyncIterable<readonly Row[]>
}

export interface Reading {
  readonly map: ColumnMap
  readonly values?: ValueMap
  /** Separator of a CSV; detected from the header if undefined. */
  readonly delimiter: string | undefined
  /** An empty CSV cell resets its field instead of leaving it; in JSON, null does. */
  readonly clearEmpty: boolean
  /** Durations such as `90d` count back from it, in milliseconds since 1970; NaN if they are not allowed. */
  readonly now: number
  /** Undefined if none was given, null if none can be given. */
  readonly dateFormat?: DateFormat | null | undefined
}
