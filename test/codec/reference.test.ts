import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  joinReferences,
  matchesReference,
  parseReference,
  splitReferences,
} from '../../src/codec/reference.ts'

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
  expect(matchesReference(parseReference('ext:BIO-101'), 'BIO-101')).toBe(true)
  expect(matchesReference(parseReference('ext:BIO-101'), 'bio-101')).toBe(false)
  expect(matchesReference(parseReference('ext:7'), 7)).toBe(true)
  expect(matchesReference(parseReference('email:Ada@School.example'), 'ada@school.EXAMPLE')).toBe(true)
  expect(matchesReference(parseReference('email:ada@school.example'), undefined)).toBe(false)
})

test.for([
  ['crs_1', ['crs_1']],
  ['crs_1,ext:BIO-101', ['crs_1', 'ext:BIO-101']],
  ['crs_1 , crs_2', ['crs_1', 'crs_2']],
  ['ext:Sea\\, deep,crs_2', ['ext:Sea, deep', 'crs_2']],
  ['ext:a\\\\,crs_2', ['ext:a\\', 'crs_2']],
  ['ext:C:\\x', ['ext:C:\\x']],
  ['ext:a\\,,ext:b\\,', ['ext:a,', 'ext:b,']],
  ['crs_1,', ['crs_1', '']],
  [',,', ['', '', '']],
  ['', ['']],
] as const)('%j is a list of %j', ([list, references]) => {
  expect(splitReferences(list)).toEqual(references)
})

test('a single reference is sent as it is', () => {
  expect(joinReferences(['ext:Sea, deep'])).toBe('ext:Sea, deep')
})

test('several come out of their list as they went in, without spaces at their ends', () => {
  const text = fc.string({ unit: fc.constantFrom('\\', ',', ' ', 'a', 'é'), minLength: 1 })
  const reference = text.map((text) => `ext:${text}`.trimEnd())
  fc.assert(
    fc.property(fc.array(reference, { minLength: 2, maxLength: 5 }), (references) => {
      expect(splitReferences(joinReferences(references))).toEqual(references)
    }),
  )
})
