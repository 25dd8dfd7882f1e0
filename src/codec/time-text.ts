const dayMs = 24 * 60 * 60 * 1000
/** The last instant that sorts as text with all others, in milliseconds: the end of the year 9999. */
export const latestMs = Date.parse('9999-12-31T23:59:59.999Z')
/** The first instant that sorts as text with all others, in milliseconds: the beginning of the year 0. */
export const earliestMs = Date.parse('0000-01-01T00:00:00.000Z')

/** Maximum length of an instant; bounds the digits of its fraction. */
const maxInstantLength = 64
const instantPattern =
  /^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/

let writtenMs = Number.NaN
let written = ''

/** Formats in UTC (ISO 8601). Many requests share a millisecond, so the last text is cached. */
export function timeText(time: Date): string {
  const ms = time.getTime()
  if (ms !== writtenMs) {
    written = time.toISOString()
    writtenMs = ms
  }
  return written
}

/** True for a calendar date that exists, `YYYY-MM-DD`. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false
  const time = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

/** True for an RFC 3339 date-time with zone and seconds, on a day that exists. */
export function isInstant(text: string): boolean {
  return instantText(text) !== null
}

let instantRead = ''
let instantFound: string | null = null

/** `YYYY-MM-DDTHH:mm:ss.sssZ`; null for other text. Records often share a time, so the last result is cached. */
export function instantText(text: string): string | null {
  if (text !== instantRead) {
    instantFound = parseInstant(text)
    instantRead = text
  }
  return instantFound
}

function parseInstant(text: string): string | null {
  if (text.length > maxInstantLength || !instantPattern.test(text) || !isDay(text.slice(0, 10))) return null
  const inUtc = new Date(text).toISOString()
  // In UTC it may leave the years 0000 to 9999, and other years do not sort as text.
  return /^\d/.test(inUtc) ? inUtc : null
}

/** A period in milliseconds: the start inclusive, the end exclusive; an open side is null. */
export interface Span {
  readonly start: number | null
  readonly end: number | null
  readonly ordered: boolean
}

/**
 * Returns the span between two bounds, each a day or an instant. A day is a UTC day and is included at both
 * ends; an instant is inclusive as the start and exclusive as the end.
 */
export function spanOf(startText: string | undefined, endText: string | undefined): Span {
  const start = startText === undefined ? null : Date.parse(startText)
  if (endText === undefined) return { start, end: null, ordered: true }
  const wholeDay = isDay(endText)
  const end = wholeDay ? Math.min(Date.parse(endText) + dayMs, latestMs) : Date.parse(endText)
  return { start, end, ordered: start === null || (wholeDay ? start < end : start <= end) }
}
