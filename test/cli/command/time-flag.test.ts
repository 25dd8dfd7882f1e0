import { describe, expect } from 'vitest'
import { timeZoneFlag } from '../../../src/cli/command/flag.ts'
import { nouns } from '../../../src/cli/program/nouns.ts'
import { test } from '../../helpers/cli.ts'
import { host } from '../../helpers/host.ts'
import { expectClearError } from '../../helpers/result.ts'

/** Returns the value of a parameter in the request of a command at 2026-03-01T12:00:00Z. */
const sent = (request: string, name: string) =>
  decodeURIComponent(new RegExp(`\\b${name}"?[=:] ?"?([^&"\\s]+)`).exec(request)?.[1] ?? 'nothing')

const updated = 'courses list --updated-since'
const progress = 'progress set usr_1 --course crs_1 --completion 5 --last-accessed'
const key = 'keys create --name ci'

describe('a time', () => {
  test.for([
    [`${updated} 2026-01-31`, 'updated_since', '2026-01-31T00:00:00.000Z'],
    [`${updated} 2026-01-31T09:30:00Z`, 'updated_since', '2026-01-31T09:30:00Z'],
    [`${updated} 90d`, 'updated_since', '2025-12-01T12:00:00.000Z'],
    [`${updated} 2026-01-31 --timezone Europe/Berlin`, 'updated_since', '2026-01-30T23:00:00.000Z'],
    [`${progress} 2h`, 'lastAccessed', '2026-03-01T10:00:00.000Z'],
    [`${key} --expires 90d`, 'expiresAt', '2026-05-30T12:00:00.000Z'],
    [`${key} --expires-at never`, 'expiresAt', 'null'],
    [`${key} --expires-at 1y`, 'expiresAt', '2027-03-01T12:00:00.000Z'],
    [`${key} --expires 2027-01-01 --timezone America/New_York`, 'expiresAt', '2027-01-01T05:00:00.000Z'],
    ['analytics export --start-date 2026-01-31', 'start_date', '2026-01-31'],
    ['analytics export --end-date 7d', 'end_date', '2026-02-22T12:00:00.000Z'],
    ['report --last 90min', 'start_date', '2026-03-01T10:30:00.000Z'],
    [`${updated} 5s`, 'updated_since', '2026-03-01T11:59:55.000Z'],
    // The last Sunday of March has 23 hours in Berlin.
    [
      'analytics export --start-date 2026-03-29 --timezone Europe/Berlin',
      'start_date',
      '2026-03-28T23:00:00.000Z',
    ],
    [
      'analytics export --end-date 2026-03-29 --timezone Europe/Berlin',
      'end_date',
      '2026-03-29T22:00:00.000Z',
    ],
  ] as const)('%s sends %s %s', async ([line, name, time], { local }) => {
    const { code, stdout, stderr } = await local.run(`${line} --dry-run`)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(sent(stdout, name)).toBe(time)
  })

  test.for([
    ...['courses list', 'courses list --deleted', 'courses versions crs_1', 'courses export'],
    ...['lessons list', 'lessons list --deleted', 'lessons versions les_1', 'lessons export'],
    ...['users list', 'users export', 'enrollments list', 'enrollments export'],
    ...['progress get usr_1', 'progress history usr_1 --course crs_1', 'progress export'],
    ...['progress export --history', 'grades list', 'grades history grd_1', 'grades export'],
    ...['keys list', 'apps list', 'auth grants list', 'integrations list', 'integrations mappings moodle'],
    ...['webhooks endpoints list', 'webhooks messages list', 'webhooks deliveries list'],
    ...['audit list', 'audit export'],
  ])('bounds the main time of %s', async (list, { local }) => {
    const request = await local.run(`${list} --since 2d --until 1d --dry-run`)
    expect(request).toMatchObject({ code: 0, stderr: '' })
    expect(sent(request.stdout, 'since')).toBe('2026-02-27T12:00:00.000Z')
    expect(sent(request.stdout, 'until')).toBe('2026-02-28T12:00:00.000Z')
  })

  test('is in the zone of LEARNCTL_TIMEZONE, unless --timezone names another', async ({ local }) => {
    const env = { LEARNCTL_TIMEZONE: 'Asia/Tokyo' }
    const inTokyo = await local.run(`${updated} 2026-01-31 --dry-run`, { env })
    expect(sent(inTokyo.stdout, 'updated_since')).toBe('2026-01-30T15:00:00.000Z')
    const inUtc = await local.run(`${updated} 2026-01-31 --timezone UTC --dry-run`, { env })
    expect(sent(inUtc.stdout, 'updated_since')).toBe('2026-01-31T00:00:00.000Z')
  })

  test.for([
    [`${updated} 2026-02-30`, '--updated-since must be a day that exists, not "2026-02-30"'],
    [`${updated} 2026-02-30T00:00:00Z`, '--updated-since must be a day that exists, not "2026-02-30T00'],
    [`${updated} 2026-02-01T09:30`, '--updated-since must be a time with seconds and zone, such as 2026'],
    [`${updated} yesterday`, '--updated-since must be a day (2026-01-31), a time with zone'],
    [
      `${updated} 3m`,
      /must be a day .* or a duration \(30d\), not "3m"\n {2}hint: --updated-since 3min or --up/,
    ],
    [
      'analytics activity --last month',
      '--last must be a duration, such as 24h, 30d, 2w, 3mo or 1y, not "month"\n  hint: --last 1mo\n',
    ],
    [`${updated} 9999y`, '--updated-since must be in the years 0 to 9999, not "9999y"'],
    [
      'analytics summary --start-date 2026-03-01 --end-date 2026-02-28',
      '--start-date 2026-03-01 is after --end-date 2026-02-28',
    ],
    ['analytics export --start-date 7d --end-date 30d', '--start-date 7d is after --end-date 30d'],
    [
      `${updated} 1d --timezone Europe/Berlln`,
      /--timezone must be a time zone, such as .*"Europe\/Berlln"\n.*Did you mean Europe\/Berlin/,
    ],
  ] as const)('%s is refused', async ([line, message], { local }) => {
    expectClearError(await local.run(line), 2, message)
  })

  test('in a zone that a variable misspells is refused by its name', async ({ local }) => {
    const env = { LEARNCTL_TIMEZONE: 'Berlin' }
    expectClearError(await local.run(`${updated} 1d`, { env }), 2, 'LEARNCTL_TIMEZONE must be a time zone')
    expect(await local.run('courses list', { env })).toMatchObject({ code: 0 })
  })
})

test('every flag that takes a time says so, and its command takes a time zone', async () => {
  const timed: string[] = []
  for (const [noun, { load }] of Object.entries(nouns)) {
    const found = await load(host)
    for (const { name, flags = [] } of 'length' in found ? found : [found]) {
      const named = flags.filter((flag) => /-(at|since|date|accessed)$|^last$/.test(flag.name))
      // The first and the last day of a term are days everywhere.
      const times = named.filter(({ placeholder }) => placeholder !== 'day')
      expect(times.filter(({ kind }) => kind !== 'time')).toEqual([])
      if (times.length > 0) expect(flags).toContain(timeZoneFlag)
      timed.push(...times.map((flag) => `${noun} ${name} --${flag.name}`))
    }
  }
  expect(timed).toContain('keys create --expires-at')
})
