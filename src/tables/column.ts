/** A percentage is a number from 0 to 100, unless its meaning says otherwise. */
export const columnTypes = ['string', 'integer', 'number', 'percent', 'boolean', 'timestamp', 'date'] as const
export type ColumnType = (typeof columnTypes)[number]

/**
 * How a column identifies a person: `id` is a key of a person or of another record about them, `name` a name, `address` an
 * e-mail, network or web address, `text` free text of a person or about them, `time` an instant, `none` nothing about them.
 */
export type Privacy = 'id' | 'name' | 'address' | 'text' | 'time' | 'none'

/** A column of a table, and its entry in the data dictionary. */
export interface TableColumn {
  readonly name: string
  /** Dotted path of the value in a record. */
  readonly path: string
  readonly type: ColumnType
  /** Unit of a number, or form of a text, such as `percent` or `JSON`; null for none. */
  readonly unit: string | null
  readonly meaning: string
  /** Meaning of null; null if the academy always sends a value. */
  readonly nullMeans: string | null
  readonly privacy: Privacy
}

/** A column to encode. Without a type, the values decide it. */
export type EncodedColumn = Pick<TableColumn, 'name' | 'path'> &
  Partial<Pick<TableColumn, 'unit' | 'meaning' | 'nullMeans'>> & { readonly type?: ColumnType }

/** A promise delays the next bytes. */
export type Sink = (bytes: Uint8Array) => void | Promise<void>

/** Writes a table in batches of records. After an error, the file is incomplete and must be deleted. */
export interface TableEncoder {
  rows(records: readonly unknown[]): Promise<void>
  /** Writes the rest of the file; alone, a table without rows. */
  end(): Promise<void>
}

/** A value or a table that the format cannot hold. */
export class TableError extends Error {
  override readonly name = 'TableError'
  readonly code: string
  readonly hint: string

  constructor(code: string, message: string, hint: string) {
    super(message)
    this.code = code
    this.hint = hint
  }
}

/** Rows count from 1, without the header. */
export function placeOf(row: number, column: Pick<EncodedColumn, 'name'>): string {
  return `row ${row}, column ${JSON.stringify(column.name)}`
}
