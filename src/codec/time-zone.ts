const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** A time zone by its IANA name: what its clocks show, and when. */
export interface TimeZone {
  /** What the clocks show at an instant, as milliseconds that `Date` would show the same way in UTC. */
  clockAt(instantMs: number): number
  /**
   * The instant at which the clocks show this. Where they show it twice, the first; where they skip it, the same
   * distance after the last instant before the gap.
   */
  instantOf(clockMs: number): number
}

/** Coordinated Universal Time. */
export const utc: TimeZone = { clockAt: (instantMs) => instantMs, instantOf: (clockMs) => clockMs }

/** The time zone of this name; null where there is none. */
export function timeZone(name: string): TimeZone | null {
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

/** Hours, or units that follow the calendar. */
export interface Duration {
  readonly count: number
  readonly unit: 'h' | 'd' | 'w' | 'm' | 'y'
}

/** The duration that a text is, such as `90d`; null for any other text. */
export function durationIn(text: string): Duration | null {
  const [, count, unit] = /^(\d{1,5})([hdwmy])$/.exec(text) ?? []
  // The pattern lets nothing else through.
  return count === undefined ? null : { count: Number(count), unit: unit as Duration['unit'] }
}

/**
 * The instant so many units after another one, before it for a negative count. Days, weeks, months and years keep the
 * time that the clocks show; a day that the month does not have becomes its last.
 */
export function shifted(instantMs: number, { count, unit }: Duration, zone: TimeZone): number {
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
