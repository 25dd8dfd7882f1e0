import type { TimeZone } from './time-zone.ts'

const fixedMs = { ms: 1, s: 1000, min: 60_000, h: 3_600_000 } as const

export interface Duration {
  readonly count: number
  readonly unit: keyof typeof fixedMs | 'd' | 'w' | 'mo' | 'y'
}

/** `30s`, `1.5h` or `90d`; null for any other text, also for `3m`: minutes for some, months for others. */
export function parseDuration(text: string): Duration | null {
  const [, count, unit] =
    /^(\d{1,9}(?:\.\d{1,9})?)(ms|s|min|h)$/.exec(text) ?? /^(\d{1,5})(d|w|mo|y)$/.exec(text) ?? []
  return count === undefined ? null : { count: Number(count), unit: unit as Duration['unit'] }
}

/** Returns how to write a text that is nearly a duration, such as `3m`, `month` or `3 days`; null for any other. */
export function meantDurations(text: string): string[] | null {
  if (parseDuration(text)) return null
  const [, count = '', word = ''] = /^(\d{0,5}) ?([a-z]+?)s?$/i.exec(text) ?? []
  const units = meantUnits[word.toLowerCase()]
  return units ? units.map((unit) => `${count || 1}${unit}`) : null
}

const meantUnits: Readonly<Record<string, readonly Duration['unit'][]>> = {
  m: ['min', 'mo'],
  ...{ second: ['s'], sec: ['s'], minute: ['min'], min: ['min'], hour: ['h'], day: ['d'], week: ['w'] },
  ...{ month: ['mo'], year: ['y'] },
}

/** Returns a duration in milliseconds; a day has 24 hours, months and years have no fixed length. */
export function durationMs({ count, unit }: Duration): number | null {
  if (unit === 'mo' || unit === 'y') return null
  const days = unit === 'd' ? count : unit === 'w' ? count * 7 : null
  return days === null ? count * fixedMs[unit as keyof typeof fixedMs] : days * 24 * fixedMs.h
}

/** Days, weeks, months and years keep the local time; a day that the month lacks becomes its last day. */
export function addDuration(instantMs: number, { count, unit }: Duration, zone: TimeZone): number {
  if (unit in fixedMs) return instantMs + Math.round(count * fixedMs[unit as keyof typeof fixedMs])
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
