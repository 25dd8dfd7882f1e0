import { findTimeZone, utc } from '../../codec/time-zone.ts'
import type { ChatSettings } from '../../contract/chat.ts'

const hourMs = 60 * 60 * 1000
const dayMs = 24 * hourMs

/** Returns the first time of a digest after another time, by the hour in the time zone of the endpoint. */
export function nextDigestAt(
  { digestHour, digestTimezone }: Pick<ChatSettings, 'digestHour' | 'digestTimezone'>,
  now: Date,
): string {
  const zone = findTimeZone(digestTimezone) ?? utc
  const clockMs = zone.clockAt(now.getTime())
  const today = clockMs - (clockMs % dayMs)
  const times = [today, today + dayMs].map((dayMs) => zone.instantOf(dayMs + digestHour * hourMs))
  return new Date(times.find((time) => time > now.getTime()) ?? now.getTime() + dayMs).toISOString()
}
