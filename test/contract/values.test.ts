import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isInstant } from '../../src/codec/time-text.ts'
import { BooleanParam, choices } from '../../src/contract/lists.ts'
import { Instant, Language, WebAddress } from '../../src/contract/values.ts'

test.for([
  ['2026-01-31T09:30:00Z', '2026-01-31T09:30:00.000Z'],
  ['2026-01-31T23:30:00-01:00', '2026-02-01T00:30:00.000Z'],
  ['2026-01-31T09:30:00.1239+00:00', '2026-01-31T09:30:00.123Z'],
])('the instant %s is kept as %s', ([text, kept]) => {
  expect(Instant.parse(text)).toBe(kept)
})

test.for([
  '2026-01-31T24:00:00Z',
  '2026-01-31T09:60:00Z',
  '2026-02-30T09:00:00Z',
  '2026-01-31T09:30:00',
  '2026-01-31T09:30Z',
  '2026-01-31T09:30:00+24:00',
  '2026-01-31',
  '9999-12-31T23:59:59-00:01',
])('%s is no instant', (text) => {
  expect(isInstant(text)).toBe(false)
  expect(Instant.safeParse(text).success).toBe(false)
})

test('instants sort as text once they are kept, whatever zone they came in', () => {
  const zone = fc.integer({ min: -14 * 60, max: 14 * 60 })
  const time = fc.date({ min: new Date('1900-01-01'), max: new Date('2200-01-01'), noInvalidDate: true })
  const two = (value: number) => String(value).padStart(2, '0')
  const written = ([date, minutes]: [Date, number]) => {
    const local = new Date(date.getTime() + minutes * 60_000).toISOString().slice(0, -1)
    const size = Math.abs(minutes)
    return `${local}${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`
  }
  fc.assert(
    fc.property(fc.tuple(time, zone), fc.tuple(time, zone), (one, other) => {
      expect(Instant.parse(written(one))).toBe(one[0].toISOString())
      expect(Instant.parse(written(one)) < Instant.parse(written(other))).toBe(one[0] < other[0])
    }),
  )
})

test('a flag is true or false, a list of choices has each checked', () => {
  expect(BooleanParam.parse('true')).toBe(true)
  expect(BooleanParam.safeParse('1').success).toBe(false)
  const Colours = choices(['red', 'blue'])
  expect(Colours.parse('red, blue')).toEqual(['red', 'blue'])
  expect(Colours.safeParse('red,green').success).toBe(false)
  expect(Colours.safeParse('').success).toBe(false)
})

test('addresses are http or https, languages BCP 47', () => {
  expect(WebAddress.safeParse('https://example.org/a?b#c').success).toBe(true)
  for (const address of ['javascript:alert(1)', 'ftp://example.org', '//example.org', 'example.org']) {
    expect(WebAddress.safeParse(address).success, address).toBe(false)
  }
  expect(Language.safeParse('pt-BR').success).toBe(true)
  expect(Language.safeParse('pt_BR!').success).toBe(false)
  for (const tag of ['de', 'DE-at', 'gsw', 'iw', 'zh-Hant-TW', 'aaa', 'sr-Latn']) {
    expect(Language.safeParse(tag).success, tag).toBe(true)
  }
  for (const tag of ['deutsch', 'english', 'zz', 'qq-DE', 'd', 'a-DE', '']) {
    expect(Language.safeParse(tag).success, tag).toBe(false)
  }
})
