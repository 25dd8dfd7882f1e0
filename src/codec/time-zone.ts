const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** A time zone, which converts between instants and local times. */
export interface TimeZone {
  /** Returns the local time at an instant, as the milliseconds for which `Date` shows it in UTC. */
  clockAt(instantMs: number): number
  /**
   * Returns the instant of a local time: the first of two if clocks were set back; if clocks skipped it, the
   * instant as far after the last one before the gap.
   */
  instantOf(clockMs: number): number
}

/** Coordinated Universal Time. */
export const utc: TimeZone = { clockAt: (instantMs) => instantMs, instantOf: (clockMs) => clockMs }

/** Returns the time zone with this IANA name; null if it is unknown. */
export function findTimeZone(name: string): TimeZone | null {
  if (name === 'UTC') return utc
  let format: Intl.DateTimeFormat
  try {
    format = new Intl.DateTimeFormat('en', { timeZone: name, timeZoneName: 'longOffset' })
  } catch {
    return null
  }

  function offsetAt(instantMs: number): number {
    // GMT, GMT+02:00, and before standard time GMT+00:53:28.
    const [, sign, ...parts] = /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?/.exec(format.format(instantMs)) ?? []
    const [hours = 0, minutes = 0, seconds = 0] = parts.map((part) => Number(part ?? 0))
    return (sign === '-' ? -1000 : 1000) * (hours * 3600 + minutes * 60 + seconds)
  }

  return {
    clockAt: (instantMs) => instantMs + offsetAt(instantMs),
    instantOf(clockMs) {
      const before = offsetAt(clockMs - dayMs)
      const candidates = [clockMs - before, clockMs - offsetAt(clockMs + dayMs)]
      const shown = candidates.filter((instantMs) => instantMs + offsetAt(instantMs) === clockMs)
      return shown.length > 0 ? Math.min(...shown) : clockMs - before
    },
  }
}

/** A duration in hours or in calendar units. */
export interface Duration {
  readonly count: number
  readonly unit: 'h' | 'd' | 'w' | 'm' | 'y'
}

/** Parses a duration such as `90d`; null for any other text. */
export function parseCalendarDuration(text: string): Duration | null {
  const [, count, unit] = /^(\d{1,5})([hdwmy])$/.exec(text) ?? []
  return count === undefined ? null : { count: Number(count), unit: unit as Duration['unit'] }
}

/**
 * Returns the instant a duration after another one, or before it if the count is negative. Days, weeks,
 * months and years keep the local time; a day that the month lacks becomes its last day.
 */
export function addDuration(instantMs: number, { count, unit }: Duration, zone: TimeZone): number {
  if (unit === 'h') return instantMs + count * hourMs
  const clock = new Date(zone.clockAt(instantMs))
  if (unit === 'd' || unit === 'w') {
    clock.setUTCDate(clock.getUTCDate() + count * (unit === 'w' ? 7 : 1))
    return zone.instantOf(clock.getTime())
  }
  const day = clock.getUTCDate()
  clock.setUTCDate(1)
  clock.setUTCMonth(clock.getUTCMonth() + count * (unit === 'y' ? 12 : 1))
  const length = new Date(Date.UTC(clock.getUTCFullYear(), clock.getUTCMonth() + 1, 0)).getUTCDate()
  clock.setUTCDate(Math.min(day, length))
  return zone.instantOf(clock.getTime())
}
