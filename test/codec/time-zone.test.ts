import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findTimeZone, type TimeZone } from '../../src/codec/time-zone.ts'

function zoneOf(name: string): TimeZone {
  const zone = findTimeZone(name)
  if (!zone) throw new TypeError(`no time zone ${name}`)
  return zone
}

const iso = (ms: number) => new Date(ms).toISOString()

test.for([
  ['UTC', '2026-03-29', '2026-03-29T00:00:00.000Z'],
  ['Europe/Berlin', '2026-03-29', '2026-03-28T23:00:00.000Z'],
  ['Europe/Berlin', '2026-03-30', '2026-03-29T22:00:00.000Z'],
  ['America/New_York', '2026-11-01', '2026-11-01T04:00:00.000Z'],
  ['America/New_York', '2026-11-02', '2026-11-02T05:00:00.000Z'],
  ['Asia/Kathmandu', '2026-01-31', '2026-01-30T18:15:00.000Z'],
  // Clocks were set forward from midnight to one o'clock.
  ['America/Sao_Paulo', '2018-11-04', '2018-11-04T03:00:00.000Z'],
  // Clocks were set back from one o'clock to midnight: the first of the two begins the day.
  ['Atlantic/Azores', '2025-10-26', '2025-10-26T00:00:00.000Z'],
  // The day was skipped.
  ['Pacific/Apia', '2011-12-30', '2011-12-30T10:00:00.000Z'],
  ['Pacific/Apia', '2011-12-31', '2011-12-30T10:00:00.000Z'],
  // Before standard time, local mean time applied.
  ['Europe/Berlin', '1890-01-01', '1889-12-31T23:06:32.000Z'],
] as const)('in %s the day %s begins at %s', ([name, day, instant]) => {
  expect(iso(zoneOf(name).instantOf(Date.parse(day)))).toBe(instant)
})

test.for(['Mars/Olympus', 'Europe/Berlin/', '', 'Central Time'])('%j is no time zone', (name) => {
  expect(findTimeZone(name)).toBeNull()
})

test('a local time leads back to an instant with that local time', () => {
  const names = ['Europe/Berlin', 'America/St_Johns', 'Australia/Lord_Howe', 'Africa/Casablanca']
  const between = { min: Date.parse('1990-01-01'), max: Date.parse('2040-01-01') }
  fc.assert(
    fc.property(fc.constantFrom(...names), fc.integer(between), (name, instantMs) => {
      const zone = zoneOf(name)
      const clock = zone.clockAt(instantMs)
      expect(zone.clockAt(zone.instantOf(clock))).toBe(clock)
    }),
  )
})
