/** An event of a calendar: on a day, or at a time. */
export interface CalendarEvent {
  /** Identifies the event at all times and in all calendars (RFC 5545 §3.8.4.7). */
  readonly uid: string
  /** `2026-01-31` for a whole day, or ISO 8601 in UTC. */
  readonly at: string
  readonly summary: string
  readonly description?: string
  /** Of the last change, ISO 8601 in UTC. */
  readonly changedAt: string
}

/** RFC 5545; the same events give the same text. */
export function formatCalendar(name: string, events: readonly CalendarEvent[]): string {
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//learnctl//learnctl//EN',
    'CALSCALE:GREGORIAN',
    // RFC 7986 §5.1 and §5.7, and the older property for programs that do not know it.
    `NAME:${escapeText(name)}`,
    `X-WR-CALNAME:${escapeText(name)}`,
    'REFRESH-INTERVAL;VALUE=DURATION:PT1H',
    'X-PUBLISHED-TTL:PT1H',
    ...events.flatMap(linesOf),
    'END:VCALENDAR',
  ]
  return lines.map((line) => `${foldLine(line)}\r\n`).join('')
}

function linesOf({ uid, at, summary, description, changedAt }: CalendarEvent): string[] {
  return [
    'BEGIN:VEVENT',
    `UID:${uid}`,
    // Without METHOD, DTSTAMP is the time of the last change (RFC 5545 §3.8.7.2).
    `DTSTAMP:${timeText(changedAt)}`,
    `LAST-MODIFIED:${timeText(changedAt)}`,
    `SEQUENCE:${sequenceOf(changedAt)}`,
    at.length === 10 ? `DTSTART;VALUE=DATE:${at.replaceAll('-', '')}` : `DTSTART:${timeText(at)}`,
    `SUMMARY:${escapeText(summary)}`,
    ...(description === undefined ? [] : [`DESCRIPTION:${escapeText(description)}`]),
    'TRANSP:TRANSPARENT',
    'END:VEVENT',
  ]
}

/** 2020-01-01. */
const sequenceStartMs = Date.UTC(2020, 0)

/** Grows with each change, also if an event gets its date from another record. */
function sequenceOf(changedAt: string): number {
  return Math.max(0, Math.floor((Date.parse(changedAt) - sequenceStartMs) / 1000))
}

/** In UTC (RFC 5545 §3.3.5). */
function timeText(time: string): string {
  return `${time.slice(0, 19).replace(/[-:]/g, '')}Z`
}

/** RFC 5545 §3.3.11; leaves out control characters. */
function escapeText(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replace(/(?!\n)\p{Cc}/gu, ' ')
    .replace(/[\\;,]/g, '\\$&')
    .replaceAll('\n', '\\n')
}

const maxLineBytes = 75

/** At 75 octets, between characters (RFC 5545 §3.1). */
function foldLine(line: string): string {
  if (Buffer.byteLength(line) <= maxLineBytes) return line
  let folded = ''
  let bytes = 0
  for (const character of line) {
    const size = Buffer.byteLength(character)
    if (bytes + size > maxLineBytes) {
      folded += '\r\n '
      bytes = 1
    }
    folded += character
    bytes += size
  }
  return folded
}
