import type { JsonObject } from '../../codec/json-object.ts'
import type { DateFormat } from '../dataset/cell.ts'
import type { ColumnMap } from './header.ts'

/** Something in a row that cannot be imported. */
export interface RowProblem {
  /** The column, or the field of a record; null where it is the row as a whole. */
  readonly column: string | null
  /** What stands there, as it stands there; undefined where it is missing or secret. */
  readonly value?: string | undefined
  readonly code: string
  /** Continues the name of the column: `must be a number`. */
  readonly message: string
  /** Ends the sentence: `; did you mean learner?`. */
  readonly guess?: string
}

/** One row of a file. */
export interface Row {
  /** The line on which it begins, from 1; in a JSON array the number of the item. */
  readonly line: number
  /** What it says, as far as it can be understood. */
  readonly record: JsonObject
  /** What cannot be. */
  readonly problems: readonly RowProblem[]
  /** Its cells in the order of `Rows.header`: as they stand in the file, but numbers and days in the API's form. */
  readonly cells: readonly string[]
}

/** The rows of a file, and what it calls their columns. */
export interface Rows {
  /** What each cell is called in a file that goes back; null for one that is left out. */
  readonly header: readonly (string | null)[]
  /** The paths of the columns that the file has. */
  readonly paths: ReadonlySet<string>
  /** As many at once as there are: each turn of a loop over them costs as much as it takes to read one. */
  readonly rows: AsyncIterable<readonly Row[]>
}

/** How a file is understood. */
export interface Reading {
  readonly map: ColumnMap
  /** Between two cells of a CSV; found out from the header where it is not given. */
  readonly delimiter: string | undefined
  /** An empty cell of a CSV resets its field; else it says nothing. In JSON, null does. */
  readonly clearEmpty: boolean
  /** From when durations such as `90d` count back, in milliseconds since 1970; NaN where there are none. */
  readonly now: number
  /** How days are written; undefined where that was not said, null where it cannot be. */
  readonly dateFormat?: DateFormat | null | undefined
}
