const dayMs = 24 * 60 * 60 * 1000
/** Milliseconds of the last instant whose text sorts with all others: the end of the year 9999. */
export const latestMs = Date.parse('9999-12-31T23:59:59.999Z')
/** Milliseconds of the first such instant, at the beginning of the year 0. */
export const earliestMs = Date.parse('0000-01-01T00:00:00.000Z')

/** More digits of a second than anybody keeps. */
const longestInstant = 64
const instantPattern =
  /^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/

let writtenMs = Number.NaN
let written = ''

/** A time as ISO 8601 in UTC. Many requests share a millisecond: it is written once for all of them. */
export function timeText(time: Date): string {
  const ms = time.getTime()
  if (ms !== writtenMs) {
    written = time.toISOString()
    writtenMs = ms
  }
  return written
}

/** True for a calendar day that exists, `YYYY-MM-DD`. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false
  const time = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

/** True for an RFC 3339 date-time with zone and seconds, on a day that exists. */
export function isInstant(text: string): boolean {
  if (text.length > longestInstant || !instantPattern.test(text) || !isDay(text.slice(0, 10))) return false
  // In UTC it may fall outside the years 0000 to 9999, which have another form and do not sort as text.
  return /^\d/.test(new Date(text).toISOString())
}

/** Where a period begins, inclusively, and ends, exclusively, in milliseconds; an open side is null. */
export interface Span {
  readonly start: number | null
  readonly end: number | null
  /** False where the start is after the end. */
  readonly ordered: boolean
}

/**
 * The span between two bounds, each a day or an instant and read by its own form: a day is a UTC day and belongs to
 * the span at both ends, an instant starts it inclusively and ends it exclusively.
 */
export function spanOf(startText: string | undefined, endText: string | undefined): Span {
  const start = startText === undefined ? null : Date.parse(startText)
  if (endText === undefined) return { start, end: null, ordered: true }
  const wholeDay = isDay(endText)
  const end = wholeDay ? Math.min(Date.parse(endText) + dayMs, latestMs) : Date.parse(endText)
  return { start, end, ordered: start === null || (wholeDay ? start < end : start <= end) }
}
