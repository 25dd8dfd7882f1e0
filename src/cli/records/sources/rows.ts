import type { JsonObject } from '../../../codec/json-text.ts'
import type { DateFormat } from '../../dataset/cell.ts'
import type { Column } from '../../dataset/column.ts'
import type { ImportFile } from './file.ts'
import type { ColumnMap, ValueMap } from './header.ts'

/** A problem that keeps a row from being imported. */
export interface RowProblem {
  /** Column, or field of a record; null for a problem of the whole row. */
  readonly column: string | null
  /** Value as written in the file; undefined if missing or secret. */
  readonly value?: string | undefined
  /** Text that the mapping reads in place of the value. */
  readonly meaning?: string
  readonly code: string
  /** Message that follows the column name: `must be a number`. */
  readonly message: string
  /** End of the message: `; did you mean learner?`. */
  readonly guess?: string
}

export interface Row {
  /** First line of the row, from 1; in a JSON array the number of the item. */
  readonly line: number
  /** Values that could be read. */
  readonly record: JsonObject
  /** Problems of the other values. */
  readonly problems: readonly RowProblem[]
  /** Cells in the order of `Rows.header`, as in the file. */
  readonly cells: readonly string[]
  /** Texts of the file that the mapping replaced, by the path of their column. */
  readonly replaced?: Readonly<Record<string, string>>
}

/** Returns a value of a row as its file has it, and what the mapping reads for it. */
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
  /** Names of mapped columns in the file, by the name of the column. */
  readonly labels?: ReadonlyMap<string, string>
  /** Returns the place of the row with this `line`, if that is not its line in the file. */
  readonly placeOf?: ImportFile['placeOf']
  /** Separator of the cells of a CSV. */
  readonly delimiter?: string
  /** Paths of the columns in the file. */
  readonly paths: ReadonlySet<string>
  /** Rows in chunks, since iterating asynchronously costs as much per turn as reading a row. */
  readonly rows: AsyncIterable<readonly Row[]>
}

/** Options for reading a file. */
export interface Reading {
  readonly map: ColumnMap
  readonly values?: ValueMap
  /** Separator of CSV cells; detected from the header if undefined. */
  readonly delimiter: string | undefined
  /** True if an empty CSV cell resets its field instead of leaving it; in JSON, null does. */
  readonly clearEmpty: boolean
  /**
   * Time that durations such as `90d` count back from, in milliseconds since 1970; NaN if durations are not allowed.
   */
  readonly now: number
  /** Format of days; undefined if none was given, null if none can be given. */
  readonly dateFormat?: DateFormat | null | undefined
}
