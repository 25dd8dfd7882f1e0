import { jsonText } from '../codec/json-text.ts'
import { isDay, isInstant } from '../codec/time-text.ts'
import { type ColumnType, type EncodedColumn, placeOf, TableError } from './column.ts'

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
