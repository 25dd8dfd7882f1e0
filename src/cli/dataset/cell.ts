import { type CsvValue, removeGuard } from '../../codec/csv.ts'
import { jsonText, parseJson } from '../../codec/json-text.ts'
import { earliestMs, isDay } from '../../codec/time-text.ts'
import { addDuration, parseCalendarDuration, utc } from '../../codec/time-zone.ts'
import type { Column } from './column.ts'

/** How days are written in a file, beside ISO 8601: `excel` is Excel's number of a day. */
export const dateFormats = ['DD.MM.YYYY', 'DD/MM/YYYY', 'DD-MM-YYYY', 'MM/DD/YYYY', 'excel'] as const
export type DateFormat = (typeof dateFormats)[number]

/** How cells are written. */
export interface CellForm {
  /** From when durations count back, in milliseconds since 1970. */
  readonly now: number
  /** Undefined where none was given; null where none can be given. */
  readonly dateFormat?: DateFormat | null | undefined
  /** A number may have a comma in place of its point: the comma does not end a cell. */
  readonly decimalComma?: boolean
}

const dayMs = 86_400_000
/** Days from Excel's day 0 (1899-12-30) to 1970-01-01. */
const excelEpochDays = 25_569
/** 9999-12-31 */
const lastExcelDay = 2_958_465

/** What a column says of its cells. */
type CellColumn = Pick<Column, 'kind' | 'nullable'>

/** A cell that says null where an empty one would say nothing. */
const nullCell = 'null'

/** A cell whose text is not of its column's kind; the message continues the name of the column. */
export class CellError extends Error {
  override readonly name = 'CellError'
  /** Ends the sentence, after the value; empty where there is nothing to add. */
  readonly guess: string

  constructor(message: string, options: ErrorOptions & { readonly guess?: string } = {}) {
    super(message, options)
    this.guess = options.guess ?? ''
  }
}

/**
 * The value of a cell's text; undefined for an empty one. Numbers are those of JSON, times may be days or durations, lists
 * are JSON or have commas between their items. Throws a CellError.
 */
export function readCell({ kind, nullable }: CellColumn, cell: string, form: CellForm): unknown {
  const text = removeGuard(cell)
  if (text === '') return undefined
  if (nullable && text.trim().toLowerCase() === nullCell) return null
  switch (kind) {
    case 'text':
      return text
    case 'number':
      return numberIn(form.decimalComma ? withPoint(text.trim()) : text.trim())
    case 'switch':
      return switchIn(text.trim().toLowerCase())
    case 'time':
      return timeIn(text.trim(), form)
    case 'texts':
      return text.trimStart().startsWith('[') ? parseJsonOrNull(text) : listIn(text)
    case 'json':
      return parseJsonOrNull(text)
  }
}

/**
 * A time as the API takes it, from a day (00:00 in UTC), a day in the given format, also with a time of day in UTC, or a
 * duration, which is so long ago; any other text as it is. Throws a CellError for a day in a format that was not given:
 * 03/04/2026 is in March or in April.
 */
export function timeIn(text: string, { now, dateFormat }: CellForm): string {
  if (isDay(text)) return `${text}T00:00:00.000Z`
  const fit = formatsOf(text)
  if (dateFormat && fit.includes(dateFormat)) return instantIn(text, dateFormat)
  if (fit.length > 0) {
    const guess = dateFormat === null ? '' : `; use --date-format ${fit.join(' or ')}`
    throw new CellError('must be a date such as 2026-08-31', { guess })
  }
  const duration = parseCalendarDuration(text)
  const ms = duration ? addDuration(now, { ...duration, count: -duration.count }, utc) : Number.NaN
  return ms >= earliestMs ? new Date(ms).toISOString() : text
}

const dayPattern = /^(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?:[ T](\d{1,2}):(\d{2})(?::(\d{2}))?)?$/

/** The formats in which a text is a day that exists. Excel's days of fewer digits are before 1927, or years. */
function formatsOf(text: string): DateFormat[] {
  if (/^\d{5,7}(?:\.\d+)?$/.test(text)) {
    return Number(text) <= lastExcelDay ? ['excel'] : []
  }
  return dateFormats.filter((format) => format !== 'excel' && dayAndTimeIn(text, format) !== null)
}

function instantIn(text: string, format: DateFormat): string {
  if (format !== 'excel') return new Date(dayAndTimeIn(text, format) ?? Number.NaN).toISOString()
  // Excel keeps a time of day as a part of its day: rounded to the second, 10:00 is not 09:59:59.999.
  const seconds = Math.round((Number(text) - excelEpochDays) * (dayMs / 1000))
  return new Date(seconds * 1000).toISOString()
}

/** Milliseconds since 1970 of a day in a format; null for any other text. */
function dayAndTimeIn(text: string, format: DateFormat): number | null {
  const [, first = '', separator = '', second = '', year = '', ...time] = dayPattern.exec(text) ?? []
  if (separator === '' || !format.includes(separator)) return null
  const [day, month] = format.startsWith('MM') ? [second, first] : [first, second]
  const iso = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  const [hours = 0, minutes = 0, seconds = 0] = time.map((part) => Number(part ?? 0))
  if (!isDay(iso) || hours > 23 || minutes > 59 || seconds > 59) return null
  return Date.parse(`${iso}T00:00:00.000Z`) + ((hours * 60 + minutes) * 60 + seconds) * 1000
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

/** `12,5` as `12.5`; a text with a point, or with several commas, stays as it is. */
function withPoint(text: string): string {
  return /^-?\d+,\d+$/.test(text) ? text.replace(',', '.') : text
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

function parseJsonOrNull(text: string): unknown {
  try {
    return parseJson(text)
  } catch (cause) {
    throw new CellError('must be JSON', { cause })
  }
}
