import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeUtf8 } from '../../src/codec/unicode-text.ts'
import { anyText } from '../helpers/random.ts'

describe('bytes as UTF-8', () => {
  test('are the text that they were made from, without a byte order mark', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const whole = text.toWellFormed()
        expect(decodeUtf8(Buffer.from(`\uFEFF${whole}`))).toBe(whole)
      }),
    )
  })

  test.for([
    ['Caf\xe9', 'byte 0xE9 at offset 3'],
    ['\xc3\xa9\xc3', 'byte 0xC3 at offset 2'],
    // Overlong, a surrogate, above U+10FFFF, a lone continuation byte.
    ['ab\xc0\x80', 'byte 0xC0 at offset 2'],
    ['\xed\xa0\x80', 'byte 0xED at offset 0'],
    ['x\xf5\x80\x80\x80', 'byte 0xF5 at offset 1'],
    ['x\x80', 'byte 0x80 at offset 1'],
    ['\xff\xfe{\0}\0', 'UTF-16'],
    ['\xfe\xff\0{\0}', 'UTF-16'],
  ])('%j are refused: %s', ([bytes = '', fault = '']) => {
    expect(() => decodeUtf8(Buffer.from(bytes, 'latin1'))).toThrow(fault)
  })
})
