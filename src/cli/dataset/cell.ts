import { type CsvValue, unguarded } from '../../codec/csv.ts'
import { jsonText, parseJson } from '../../codec/json-text.ts'
import { earliestMs, isDay } from '../../codec/time-text.ts'
import { durationIn, shifted, utc } from '../../codec/time-zone.ts'
import type { Column } from './column.ts'

/** What a column says of its cells. */
type CellColumn = Pick<Column, 'kind' | 'nullable'>

/** A cell that says null where an empty one would say nothing. */
const nullCell = 'null'

/** A cell whose text is not of its column's kind; the message continues the name of the column. */
export class CellError extends Error {
  override readonly name = 'CellError'
}

/**
 * The value of a cell's text; undefined for an empty one. Numbers are those of JSON, times may be days or durations, lists
 * are JSON or have commas between their items. Throws a CellError.
 *
 * @param now milliseconds since 1970
 */
export function readCell({ kind, nullable }: CellColumn, cell: string, now: number): unknown {
  const text = unguarded(cell)
  if (text === '') return undefined
  if (nullable && text.trim().toLowerCase() === nullCell) return null
  switch (kind) {
    case 'text':
      return text
    case 'number':
      return numberIn(text.trim())
    case 'switch':
      return switchIn(text.trim().toLowerCase())
    case 'time':
      return timeIn(text.trim(), now)
    case 'texts':
      return text.trimStart().startsWith('[') ? jsonIn(text) : listIn(text)
    case 'json':
      return jsonIn(text)
  }
}

/** A time as the API takes it, from a day (00:00 in UTC) or a duration, which is so long ago; any other text as it is. */
export function timeIn(text: string, now: number): string {
  if (isDay(text)) return `${text}T00:00:00.000Z`
  const duration = durationIn(text)
  const ms = duration ? shifted(now, { ...duration, count: -duration.count }, utc) : Number.NaN
  return ms >= earliestMs ? new Date(ms).toISOString() : text
}

/** A value as the text of a cell, which `readCell` reads as the same value again; null for an empty cell. */
export function cellOf({ kind, nullable }: CellColumn, value: unknown): CsvValue {
  if (value === null && nullable) return nullCell
  if (value === null || value === undefined) return null
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return value
  if (!Array.isArray(value)) return jsonText(value)
  if (value.length === 0) return null
  const plain = kind === 'texts' && value.every(isPlainItem)
  return plain ? value.join(', ') : jsonText(value)
}

/** True for an item of a list that stays itself between commas. */
function isPlainItem(item: unknown): boolean {
  return typeof item === 'string' && item !== '' && item.trim() === item && !/[,[\r\n]/.test(item)
}

function numberIn(text: string): number | bigint {
  if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text)) throw new CellError('must be a number')
  // Numbers of JSON, so that the exact ones stay exact.
  return parseJson(text) as number | bigint
}

function switchIn(text: string): boolean {
  if (['true', 'yes', 'on', '1'].includes(text)) return true
  if (['false', 'no', 'off', '0'].includes(text)) return false
  throw new CellError('must be true or false')
}

function listIn(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

function jsonIn(text: string): unknown {
  try {
    return parseJson(text)
  } catch (cause) {
    throw new CellError('must be JSON', { cause })
  }
}
