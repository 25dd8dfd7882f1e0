import { type CsvValue, removeGuard } from '../../codec/csv.ts'
import { addDuration, meantDurations, parseDuration } from '../../codec/duration.ts'
import { jsonText, parseJson } from '../../codec/json-text.ts'
import { earliestMs, isDay } from '../../codec/time-text.ts'
import { utc } from '../../codec/time-zone.ts'
import type { Column } from './column.ts'

/**
 * Formats of days in a file, besides ISO 8601: `excel` is Excel's number of a day, `YYYY-MM-DD` a day with a time of day
 * but no time zone.
 */
export const dateFormats = [
  'DD.MM.YYYY',
  'DD/MM/YYYY',
  'DD-MM-YYYY',
  'MM/DD/YYYY',
  'YYYY-MM-DD',
  'excel',
] as const
export type DateFormat = (typeof dateFormats)[number]

export interface CellForm {
  /** Time that durations count back from, in milliseconds since 1970. */
  readonly now: number
  /** Undefined if none was given, null if none can be given. */
  readonly dateFormat?: DateFormat | null | undefined
  /** The comma does not separate cells. */
  readonly decimalComma?: boolean
}

const dayMs = 86_400_000
/** Days from Excel's day 0 (1899-12-30) to 1970-01-01. */
const excelEpochDays = 25_569
/** 9999-12-31 */
const lastExcelDay = 2_958_465

type CellColumn = Pick<Column, 'kind' | 'nullable' | 'choices'>

/** Written for null, since an empty cell means no value. */
const nullCell = 'null'

/** A cell whose text does not fit its column; the message continues the name of the column. */
export class CellError extends Error {
  override readonly name = 'CellError'
  /** Follows the value in the message; may be empty. */
  readonly guess: string

  constructor(message: string, options: ErrorOptions & { readonly guess?: string } = {}) {
    super(message, options)
    this.guess = options.guess ?? ''
  }
}

/** Undefined for an empty one. Choices are found without case, lists are JSON or separated by commas. Throws a CellError. */
export function readCell({ kind, nullable, choices }: CellColumn, cell: string, form: CellForm): unknown {
  const text = removeGuard(cell)
  if (text === '') return undefined
  if (nullable && text.trim().toLowerCase() === nullCell) return null
  switch (kind) {
    case 'text':
      return choices ? choiceIn(text, choices) : text
    case 'number':
      return numberIn(form.decimalComma ? withPoint(text.trim()) : text.trim())
    case 'switch':
      return switchIn(text.trim().toLowerCase())
    case 'time':
      return timeIn(text.trim(), form)
    case 'day':
      return dayIn(text.trim(), form)
    case 'texts':
      if (text.trimStart().startsWith('[')) return parseJsonOrNull(text)
      return choices ? listIn(text).map((item) => choiceIn(item, choices)) : listIn(text)
    case 'json':
      return parseJsonOrNull(text)
  }
}

/** Ignores case and spaces around it; other text is unchanged. */
function choiceIn(text: string, choices: readonly string[]): string {
  if (choices.includes(text)) return text
  const plain = text.trim().toLowerCase()
  return choices.find((choice) => choice.toLowerCase() === plain) ?? text
}

/** Undefined for none. */
export type MeaningOf = (text: string) => string | undefined

/** Compares texts as `readCell` does: choices without case. */
export function meaningsOf({ choices }: CellColumn, meanings: ReadonlyMap<string, string>): MeaningOf {
  if (!choices) return (text) => meanings.get(text)
  const folded = new Map([...meanings].map(([text, meaning]) => [text.toLowerCase(), meaning]))
  return (text) => folded.get(text.toLowerCase())
}

/** Returns a list with its items replaced by what a mapping reads for them; other values unchanged. */
export function replaceItems(
  column: CellColumn,
  value: unknown,
  meaningOf: MeaningOf,
  form: CellForm,
): unknown {
  if (column.kind !== 'texts' || !Array.isArray(value)) return value
  return value.flatMap((item: unknown) => {
    const meaning = meaningOf(String(item))
    return meaning === undefined ? [item] : (readCell(column, meaning, form) ?? [])
  })
}

/**
 * Returns a time in the API's form, from a day (00:00 UTC), a day in the given format with or without a time of day
 * in UTC, or a duration back from `now`; returns other text unchanged. Throws a CellError for a day in a format that
 * was not given: 03/04/2026 is in March or in April.
 */
export function timeIn(text: string, { now, dateFormat }: CellForm): string {
  if (isDay(text)) return `${text}T00:00:00.000Z`
  const fit = formatsOf(text)
  if (dateFormat && fit.includes(dateFormat)) return instantIn(text, dateFormat)
  if (fit.includes('YYYY-MM-DD')) {
    if (dateFormat === null) return text
    throw new CellError('must have a time zone, such as 2026-01-31T09:30:00Z', {
      guess: '; --date-format YYYY-MM-DD reads it in UTC',
    })
  }
  if (fit.length > 0) {
    const guess = dateFormat === null ? '' : `; use --date-format ${fit.join(' or ')}`
    throw new CellError('must be a date such as 2026-08-31', { guess })
  }
  const meant = Number.isNaN(now) ? null : meantDurations(text)
  if (meant)
    throw new CellError('must be a time or a duration such as 90d', {
      guess: `; write ${meant.join(' or ')}`,
    })
  const duration = parseDuration(text)
  const ms = duration ? addDuration(now, { ...duration, count: -duration.count }, utc) : Number.NaN
  return ms >= earliestMs ? new Date(ms).toISOString() : text
}

/** Returns a day in the API's form, from one in the given format; returns other text unchanged. Throws a CellError. */
export function dayIn(text: string, form: CellForm): string {
  return formatsOf(text).length > 0 ? timeIn(text, form).slice(0, 10) : text
}

const dayPattern = /^(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})(?:[ T](\d{1,2}):(\d{2})(?::(\d{2}))?)?$/
const localPattern = /^(\d{4}-\d{2}-\d{2})[ T](\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?$/

/**
 * Returns the formats in which a text is a valid day. Shorter Excel numbers are excluded: they are before 1927, or
 * years.
 */
function formatsOf(text: string): DateFormat[] {
  if (/^\d{5,7}(?:\.\d+)?$/.test(text)) {
    return Number(text) <= lastExcelDay ? ['excel'] : []
  }
  return dateFormats.filter((format) => format !== 'excel' && dayAndTimeIn(text, format) !== null)
}

function instantIn(text: string, format: DateFormat): string {
  if (format !== 'excel') return new Date(dayAndTimeIn(text, format) ?? Number.NaN).toISOString()
  // Excel stores a time of day as a fraction: round to the second, so that 10:00 does not become 09:59:59.999.
  const seconds = Math.round((Number(text) - excelEpochDays) * (dayMs / 1000))
  return new Date(seconds * 1000).toISOString()
}

/** Returns a day in milliseconds since 1970; null for text in another format. */
function dayAndTimeIn(text: string, format: DateFormat): number | null {
  if (format === 'YYYY-MM-DD') {
    const [, day = '', ...time] = localPattern.exec(text) ?? []
    return atTime(day, time)
  }
  const [, first = '', separator = '', second = '', year = '', ...time] = dayPattern.exec(text) ?? []
  if (separator === '' || !format.includes(separator)) return null
  const [day, month] = format.startsWith('MM') ? [second, first] : [first, second]
  // LibreOffice writes years with two digits.
  const whole = year.length === 2 ? `20${year}` : year
  return atTime(`${whole}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`, time)
}

/** Returns a day and a time of day in UTC, in milliseconds since 1970; null for an invalid one. */
function atTime(iso: string, time: readonly (string | undefined)[]): number | null {
  const [hours = 0, minutes = 0, seconds = 0] = time.map((part) => Number(part ?? 0))
  if (!isDay(iso) || hours > 23 || minutes > 59 || seconds > 59) return null
  return Date.parse(`${iso}T00:00:00.000Z`) + ((hours * 60 + minutes) * 60 + seconds) * 1000
}

/** `readCell` converts it back; null for an empty cell. */
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

/** True if it needs no quotes between commas. */
function isPlainItem(item: unknown): boolean {
  return typeof item === 'string' && item !== '' && item.trim() === item && !/[,[\r\n]/.test(item)
}

function numberIn(text: string): number | bigint {
  if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text)) throw new CellError('must be a number')
  // Parse as JSON, which keeps large integers exact.
  return parseJson(text) as number | bigint
}

/** `12,5` as `12.5`; text with a point or several commas unchanged. */
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
