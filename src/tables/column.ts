import { isJsonObject, jsonText } from '../codec/json-text.ts'
import { isDay, isInstant } from '../codec/time-text.ts'

/** A percentage is a number from 0 to 100, unless its meaning says otherwise. */
const columnTypes = ['string', 'integer', 'number', 'percent', 'boolean', 'timestamp', 'date'] as const
export type ColumnType = (typeof columnTypes)[number]

/** `id` is a key, `address` an e-mail, network or web address, `text` free text about a person, `none` nothing about them. */
export type Privacy = 'id' | 'name' | 'address' | 'text' | 'time' | 'none'

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

/** Paths are dotted: `assessmentCriteria.passingScore`. */
export function valueAt(value: unknown, path: string): unknown {
  if (!isJsonObject(value)) return undefined
  if (Object.hasOwn(value, path)) return value[path]
  const dot = path.indexOf('.')
  return dot < 0 ? undefined : valueAt(value[path.slice(0, dot)], path.slice(dot + 1))
}

export interface LabelledPath {
  readonly path: string
  readonly label: string
}

/** `profile.firstName`, not `profile`. */
export function leavesOf(paths: readonly string[]): string[] {
  const above = new Set(paths.flatMap(ancestorsOf))
  return [...new Set(paths)].filter((path) => !above.has(path))
}

/** Returns the paths that contain a path: for `a.b.c`, `a` and `a.b`. */
export function ancestorsOf(path: string): string[] {
  const steps = path.split('.')
  return steps.slice(1).map((_, index) => steps.slice(0, index + 1).join('.'))
}

/** Makes columns with short labels: the last step of a path, unless another valid path has the same. */
export function labelColumns(paths: readonly string[], valid: readonly string[]): LabelledPath[] {
  const leaf = (path: string) => path.slice(path.lastIndexOf('.') + 1)
  const alike = Map.groupBy(valid, leaf)
  return paths.map((path) => ({ path, label: alike.get(leaf(path))?.length === 1 ? leaf(path) : path }))
}

/** A time is in milliseconds, a day a number of days since 1970. */
export type Cell = string | number | bigint | boolean | null

const dayMs = 24 * 60 * 60 * 1000
const maxInt64 = 2n ** 63n - 1n
/** The form in which an academy sends times; `Date.parse` accepts it without further checks but for the day. */
const ownTime = /^\d{4}-(?:0\d|1[0-2])-(?:[01]\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/
/** An instant that milliseconds hold exactly. */
const exactInMs = /^[^.]*(?:\.\d{1,3}0*)?(?:Z|[+-]\d\d:\d\d)$/

/** Undefined for a value that is not of the type, so that the column becomes text. */
export function toCell(value: unknown, type: ColumnType): Cell | undefined {
  if (value === null || value === undefined) return null
  switch (type) {
    case 'string':
      return textOf(value)
    case 'integer':
      if (typeof value === 'bigint') return value <= maxInt64 && value >= -maxInt64 - 1n ? value : undefined
      return Number.isSafeInteger(value) ? (value as number) : undefined
    case 'number':
    case 'percent':
      return typeof value === 'number' && Number.isFinite(value) ? value : undefined
    case 'boolean':
      return typeof value === 'boolean' ? value : undefined
    case 'timestamp':
      return typeof value === 'string' ? msOf(value) : undefined
    case 'date':
      return typeof value === 'string' && isDay(value) ? Date.parse(value) / dayMs : undefined
  }
}

function msOf(text: string): number | undefined {
  if (!ownTime.test(text) && !(isInstant(text) && exactInMs.test(text))) return undefined
  return Date.parse(text)
}

/** Lists and objects become JSON. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  return typeof value === 'object' ? jsonText(value) : String(value)
}

/** The declared type, or text if a value does not fit it. */
export function fittingType(values: readonly unknown[], declared: ColumnType | undefined): ColumnType {
  const types = declared === undefined ? (['boolean', 'integer', 'number'] as const) : [declared]
  const isEmpty = values.every((value) => value === null || value === undefined)
  if (isEmpty) return declared ?? 'string'
  return types.find((type) => values.every((value) => toCell(value, type) !== undefined)) ?? 'string'
}

/** Throws a TableError for text with half of a surrogate pair, which UTF-8 cannot express. */
export function assertWellFormed(text: string, row: number, column: EncodedColumn, format: string): void {
  if (text.isWellFormed()) return
  throw new TableError(
    'invalid_text',
    `Cannot write ${placeOf(row, column)} as ${format}: the text has half of a surrogate pair`,
    'Leave the column out with --columns, or use -o json, which escapes it',
  )
}

/** RFC 6901, also in a fragment: `#/profile/firstName` is `profile.firstName`. */
export function fieldPath(pointer: string): string {
  const parts = pointer.replace(/^#?\/?/, '').split('/')
  return parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~')).join('.')
}
