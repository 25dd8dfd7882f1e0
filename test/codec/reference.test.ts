import { expect, test } from 'vitest'
import { isMeant, parseReference } from '../../src/codec/reference.ts'

test.for([
  ['crs_1', 'id', 'crs_1'],
  ['ext:BIO-101', 'ext', 'BIO-101'],
  ['ext:email:x', 'ext', 'email:x'],
  ['email:ada@school.example', 'email', 'ada@school.example'],
  ['EXT:BIO-101', 'id', 'EXT:BIO-101'],
  ['', 'id', ''],
] as const)('the reference %j is by %s', ([text, by, value]) => {
  expect(parseReference(text)).toEqual({ by, value })
})

test('an external id is meant as it is written, an address whatever its case', () => {
  expect(isMeant(parseReference('ext:BIO-101'), 'BIO-101')).toBe(true)
  expect(isMeant(parseReference('ext:BIO-101'), 'bio-101')).toBe(false)
  expect(isMeant(parseReference('ext:7'), 7)).toBe(true)
  expect(isMeant(parseReference('email:Ada@School.example'), 'ada@school.EXAMPLE')).toBe(true)
  expect(isMeant(parseReference('email:ada@school.example'), undefined)).toBe(false)
})
