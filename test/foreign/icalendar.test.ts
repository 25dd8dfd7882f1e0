import ICAL from 'ical.js'
import { expect, test } from 'vitest'
import { formatCalendar } from '../../src/server/calendars/calendars.ts'

test('ical.js reads the calendars that are written here, with every text as it was', () => {
  const changedAt = '2026-03-01T12:00:00.000Z'
  const summary = `Größe; "x", \\ und\nmehr ${'ö'.repeat(60)} ${'👩‍🏫'.repeat(20)}`
  const text = formatCalendar('Größe, klein; groß', [
    {
      uid: 'crs_1.begin@learnctl',
      at: '2026-09-01',
      summary: 'Logic begins',
      description: 'Autumn',
      changedAt,
    },
    { uid: 'les_1@learnctl', at: '2026-10-25T23:59:00.000Z', summary, changedAt },
  ])
  const calendar = new ICAL.Component(ICAL.parse(text))
  const events = calendar.getAllSubcomponents('vevent').map((each) => new ICAL.Event(each))
  expect(events.map(({ uid }) => uid)).toEqual(['crs_1.begin@learnctl', 'les_1@learnctl'])
  expect(events.map((each) => each.summary)).toEqual(['Logic begins', summary])
  expect(
    events.map(({ startDate }) => [startDate.isDate, startDate.toJSDate().toISOString().slice(0, 16)]),
  ).toEqual([
    [true, expect.stringMatching(/^2026-0(8-31|9-01)/)],
    [false, '2026-10-25T23:59'],
  ])
  // A day without an end lasts that day (RFC 5545 §3.6.1).
  expect(events[0]?.endDate.toString()).toBe('2026-09-02')
  expect(events.map(({ sequence }) => sequence)).toEqual([194529600, 194529600])
})
