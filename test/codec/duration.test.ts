import { expect, test } from 'vitest'
import { addDuration, durationMs, meantDurations, parseDuration } from '../../src/codec/duration.ts'
import { findTimeZone, utc } from '../../src/codec/time-zone.ts'

test.for([
  ['500ms', 500],
  ['1.5s', 1500],
  ['2min', 120_000],
  ['24h', 86_400_000],
  ['7d', 604_800_000],
  ['2w', 1_209_600_000],
  ['3mo', null],
  ['1y', null],
] as const)('%s is %d ms', ([text, ms]) => {
  const duration = parseDuration(text)
  expect(duration && durationMs(duration)).toBe(ms)
})

test.for([
  ['3m', ['3min', '3mo']],
  ['month', ['1mo']],
  ['3 months', ['3mo']],
  ['2Weeks', ['2w']],
  ['10mins', ['10min']],
  ['day', ['1d']],
  ['1.5d', null],
  ['yesterday', null],
  ['30', null],
  ['5ms', null],
  ['', null],
] as const)('%j is no duration, or is meant as %j', ([text, meant]) => {
  expect(meantDurations(text)).toEqual(meant)
  if (meant) expect(parseDuration(text)).toBeNull()
})

test.for([
  ['2026-03-01T12:00:00.000Z', -24, 'h', 'UTC', '2026-02-28T12:00:00.000Z'],
  ['2026-03-01T12:00:00.000Z', -90, 'd', 'UTC', '2025-12-01T12:00:00.000Z'],
  ['2026-03-01T12:00:00.000Z', -2, 'w', 'UTC', '2026-02-15T12:00:00.000Z'],
  ['2026-03-01T12:00:00.000Z', -3, 'mo', 'UTC', '2025-12-01T12:00:00.000Z'],
  ['2026-03-31T12:00:00.000Z', -1, 'mo', 'UTC', '2026-02-28T12:00:00.000Z'],
  ['2024-02-29T12:00:00.000Z', -1, 'y', 'UTC', '2023-02-28T12:00:00.000Z'],
  ['2024-02-29T12:00:00.000Z', 4, 'y', 'UTC', '2028-02-29T12:00:00.000Z'],
  ['2026-12-31T12:00:00.000Z', 2, 'mo', 'UTC', '2027-02-28T12:00:00.000Z'],
  // The clocks of Berlin were set forward on 29 March, so noon is another hour in UTC.
  ['2026-03-29T10:00:00.000Z', -1, 'd', 'Europe/Berlin', '2026-03-28T11:00:00.000Z'],
  ['2026-03-29T10:00:00.000Z', -24, 'h', 'Europe/Berlin', '2026-03-28T10:00:00.000Z'],
] as const)('%s and %i%s in %s is %s', ([from, count, unit, name, to]) => {
  const zone = findTimeZone(name) ?? utc
  expect(new Date(addDuration(Date.parse(from), { count, unit }, zone)).toISOString()).toBe(to)
})
