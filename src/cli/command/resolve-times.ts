import { addDuration, meantDurations, parseDuration } from '../../codec/duration.ts'
import { earliestMs, isDay, isInstant, latestMs, spanOf } from '../../codec/time-text.ts'
import { findTimeZone, type TimeZone } from '../../codec/time-zone.ts'
import { UsageError } from '../terminal/errors.ts'
import type { Io } from '../terminal/io.ts'
import { type Flag, type FlagValues, lastFlag, timeZoneFlag } from './flag.ts'

const zoneVariable = 'LEARNCTL_TIMEZONE'

/**
 * Converts the times among flag values to UTC instants, the API's format. A day that bounds a period stays a day if
 * it is one of UTC, for platforms that accept only days. `--last` sets the start of the period. Throws a UsageError that
 * names the flag.
 */
export function resolveTimes(
  { env, now }: Pick<Io, 'env' | 'now'>,
  flags: readonly Flag[],
  values: FlagValues,
): FlagValues {
  const zoneName = timeZoneName({ env }, values)
  const given = flags.filter(({ kind, name }) => kind === 'time' && values[name] !== undefined)
  if (given.length === 0 && values[timeZoneFlag.name] === undefined) return values
  const source = values[timeZoneFlag.name] === undefined ? zoneVariable : `--${timeZoneFlag.name}`
  const zone = zoneOf(zoneName, source)
  const moment = { now: now(), zone, utc: zoneName === 'UTC' }
  const resolved = Object.fromEntries(
    given.map((flag) => [flag.name, resolveTime(flag, String(values[flag.name]), moment)]),
  )
  assertOrdered(given, values, resolved)
  const last = resolved[lastFlag.name]
  if (last === undefined) return { ...values, ...resolved }
  const bounds = flags.filter(({ time }) => time === 'start' || time === 'end')
  const other = bounds.find(({ name }) => values[name] !== undefined)
  if (other) throw new UsageError(`--${lastFlag.name} and --${other.name} cannot be used together`)
  const start = bounds.find(({ time }) => time === 'start')
  return { ...values, ...resolved, ...(start && { [start.name]: last }) }
}

/** Returns the time zone that the flag names, or else the variable; UTC without both. */
export function timeZoneName({ env }: Pick<Io, 'env'>, values: FlagValues): string {
  return String(values[timeZoneFlag.name] ?? (env[zoneVariable] || 'UTC'))
}

function zoneOf(name: string, source: string): TimeZone {
  const zone = findTimeZone(name)
  if (zone) return zone
  throw new UsageError(`${source} must be a time zone, such as Europe/Berlin, not ${JSON.stringify(name)}`, {
    code: 'invalid_timezone',
    choice: { given: name, valid: Intl.supportedValuesOf('timeZone') },
  })
}

interface Moment {
  readonly now: number
  readonly zone: TimeZone
  readonly utc: boolean
}

function resolveTime(flag: Flag, text: string, { now, zone, utc }: Moment): string | null {
  const { time = 'past' } = flag
  if (flag.never && text === 'never') return null
  const duration = parseDuration(text)
  if (duration) {
    const count = duration.count * (time === 'future' ? 1 : -1)
    return instantText(addDuration(now, { ...duration, count }, zone), flag, text)
  }
  const hints = meantDurations(text)?.map((meant) => `--${flag.name} ${meant}`)
  if (hints || time === 'ago') {
    const forms = time === 'ago' ? 'a duration, such as 24h, 30d, 2w, 3mo or 1y' : expectedOf(flag, text)
    const fault = `--${flag.name} must be ${forms}, not ${quoted(text)}`
    throw new UsageError(fault, hints ? { hint: hints.join(' or ') } : {})
  }
  if (isInstant(text)) return text
  if (!isDay(text))
    throw new UsageError(`--${flag.name} must be ${expectedOf(flag, text)}, not ${quoted(text)}`)
  if (utc && (time === 'start' || time === 'end')) return text
  const day = Date.parse(text)
  const nextDay = new Date(day)
  nextDay.setUTCDate(nextDay.getUTCDate() + 1)
  return instantText(zone.instantOf(time === 'end' ? nextDay.getTime() : day), flag, text)
}

function expectedOf({ never }: Flag, text: string): string {
  const shaped = /^\d{4}-\d\d-\d\d/.test(text)
  if (shaped && !isDay(text.slice(0, 10))) return 'a day that exists'
  if (shaped && /T\d\d:\d\d/.test(text)) return 'a time with seconds and zone, such as 2026-01-31T09:30:00Z'
  const forms = 'a day (2026-01-31), a time with zone (2026-01-31T09:30:00Z)'
  return never ? `${forms}, a duration (30d) or never` : `${forms} or a duration (30d)`
}

function instantText(ms: number, flag: Flag, text: string): string {
  if (ms >= earliestMs && ms <= latestMs) return new Date(ms).toISOString()
  throw new UsageError(`--${flag.name} must be in the years 0 to 9999, not ${quoted(text)}`)
}

function assertOrdered(
  given: readonly Flag[],
  values: FlagValues,
  resolved: Record<string, string | null>,
): void {
  const start = given.find(({ time }) => time === 'start')
  const end = given.find(({ time }) => time === 'end')
  if (!start || !end || spanOf(resolved[start.name] ?? undefined, resolved[end.name] ?? undefined).ordered)
    return
  throw new UsageError(
    `--${start.name} ${String(values[start.name])} is after --${end.name} ${String(values[end.name])}`,
  )
}

function quoted(text: string): string {
  return JSON.stringify(text)
}
