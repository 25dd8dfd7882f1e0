const dayMs = 24 * 3_600_000

export interface TimeZone {
  /** Milliseconds for which `Date` shows the local time in UTC. */
  clockAt(instantMs: number): number
  /**
   * Returns the instant of a local time: the first of two if clocks were set back; if clocks skipped it, the
   * instant as far after the last one before the gap.
   */
  instantOf(clockMs: number): number
}

export const utc: TimeZone = { clockAt: (instantMs) => instantMs, instantOf: (clockMs) => clockMs }

/** Takes an IANA name; null if it is unknown. */
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
