import fc from 'fast-check'
import { expect, test } from 'vitest'
import { joinReferences, splitReferences } from '../../src/codec/reference-list.ts'

test.for([
  ['crs_1', ['crs_1']],
  ['crs_1,ext:BIO-101', ['crs_1', 'ext:BIO-101']],
  ['crs_1 , crs_2', ['crs_1', 'crs_2']],
  ['ext:Sea\\, deep,crs_2', ['ext:Sea, deep', 'crs_2']],
  ['ext:a\\\\,crs_2', ['ext:a\\', 'crs_2']],
  ['ext:C:\\x', ['ext:C:\\x']],
  ['crs_1,', ['crs_1', '']],
  [',,', ['', '', '']],
  ['', ['']],
] as const)('%j is a list of %j', ([list, references]) => {
  expect(splitReferences(list)).toEqual(references)
})

test('a single reference is sent as it is', () => {
  expect(joinReferences(['ext:Sea, deep'])).toBe('ext:Sea, deep')
})

test('several come out of their list as they went in', () => {
  const reference = fc.string({ minLength: 1 }).map((text) => `ext:${text}.`)
  fc.assert(
    fc.property(fc.array(reference, { minLength: 2, maxLength: 5 }), (references) => {
      expect(splitReferences(joinReferences(references))).toEqual(references)
    }),
  )
})
