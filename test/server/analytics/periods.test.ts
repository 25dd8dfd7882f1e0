import { expect, test } from 'vitest'
import { periodsOf } from '../../../src/server/analytics/activity.ts'

const now = Date.parse('2026-03-01T12:00:00.000Z')
const hours = ({ start, end }: { start: string; end: string }) =>
  (Date.parse(end) - Date.parse(start)) / 3_600_000

test('a day of a time zone has the hours that it has', () => {
  const spring = {
    by: 'day',
    start_date: '2026-03-28',
    end_date: '2026-03-30',
    time_zone: 'Europe/Berlin',
  } as const
  expect(periodsOf(spring, now)).toEqual([
    { name: '2026-03-28', start: '2026-03-27T23:00:00.000Z', end: '2026-03-28T23:00:00.000Z' },
    { name: '2026-03-29', start: '2026-03-28T23:00:00.000Z', end: '2026-03-29T22:00:00.000Z' },
    { name: '2026-03-30', start: '2026-03-29T22:00:00.000Z', end: '2026-03-30T22:00:00.000Z' },
  ])
  const autumn = { ...spring, start_date: '2026-10-25', end_date: '2026-10-25' }
  expect(periodsOf(autumn, now).map(hours)).toEqual([25])
})

test('a day without midnight begins after the gap, and the next one at midnight', () => {
  const query = {
    by: 'day',
    start_date: '2018-11-03',
    end_date: '2018-11-05',
    time_zone: 'America/Sao_Paulo',
  } as const
  const days = periodsOf(query, now)
  expect(days.map(({ name }) => name)).toEqual(['2018-11-03', '2018-11-04', '2018-11-05'])
  expect(days.map(hours)).toEqual([24, 23, 24])
  expect(days[1]).toMatchObject({ start: '2018-11-04T03:00:00.000Z', end: '2018-11-05T02:00:00.000Z' })
})

test('a day that a time zone skipped has no period', () => {
  const query = {
    by: 'day',
    start_date: '2011-12-29',
    end_date: '2011-12-31',
    time_zone: 'Pacific/Apia',
  } as const
  const days = periodsOf(query, now)
  expect(days.map(({ name }) => name)).toEqual(['2011-12-29', '2011-12-31'])
  expect(days[0]?.end).toBe(days[1]?.start)
})

test.for([
  ['2020-12-28', '2020-W53'],
  ['2021-01-03', '2020-W53'],
  ['2021-01-04', '2021-W01'],
  ['2024-12-30', '2025-W01'],
  ['2026-12-31', '2026-W53'],
] as const)('the day %s is in the ISO week %s, which begins on Monday', ([day, name]) => {
  const [week] = periodsOf({ by: 'week', start_date: day, end_date: day, time_zone: 'UTC' }, now)
  expect(week).toEqual({
    name,
    start: `${day}T00:00:00.000Z`,
    end: new Date(Date.parse(day) + 86_400_000).toISOString(),
  })
  const whole = periodsOf({ by: 'week', time_zone: 'UTC' }, Date.parse(`${day}T12:00:00Z`)).at(-1)
  expect(whole?.name).toBe(name)
  expect(new Date(whole?.start ?? '').getUTCDay()).toBe(1)
  expect(hours(whole ?? { start: '', end: '' })).toBe(7 * 24)
})

test.for([
  ['day', 30, '2026-01-31', '2026-03-01'],
  ['week', 12, '2025-W50', '2026-W09'],
  ['month', 12, '2025-04', '2026-03'],
] as const)(
  'without dates, by %s, there are %i periods up to the present one',
  ([by, count, first, last]) => {
    const periods = periodsOf({ by, time_zone: 'UTC' }, now)
    expect(periods).toHaveLength(count)
    expect([periods[0]?.name, periods.at(-1)?.name]).toEqual([first, last])
  },
)

test('a bound within a period cuts it', () => {
  const query = {
    by: 'month',
    start_date: '2026-01-15',
    end_date: '2026-03-02T06:00:00Z',
    time_zone: 'UTC',
  } as const
  expect(periodsOf(query, now).map(({ start, end }) => [start.slice(0, 13), end.slice(0, 13)])).toEqual([
    ['2026-01-15T00', '2026-02-01T00'],
    ['2026-02-01T00', '2026-03-01T00'],
    ['2026-03-01T00', '2026-03-02T06'],
  ])
})

test('a thousand periods are reported, not more', () => {
  const query = { by: 'day', end_date: '2026-03-01', time_zone: 'UTC' } as const
  expect(periodsOf({ ...query, start_date: '2023-06-06' }, now)).toHaveLength(1000)
  expect(() => periodsOf({ ...query, start_date: '2023-06-05' }, now)).toThrow(
    'at most 1000 periods of a day',
  )
  expect(() => periodsOf({ ...query, start_date: '0000-01-01' }, now)).toThrow(
    'at most 1000 periods of a day',
  )
})
