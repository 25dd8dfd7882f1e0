import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isJsonObject, JsonLimitError, jsonText, parseJson } from '../../src/codec/json-text.ts'
import { anyText } from '../helpers/random.ts'

describe('JSON', () => {
  test('keeps every integer that it has, however long', () => {
    const members = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.bigInt().map(String),
        fc.bigInt({ min: -(2n ** 60n), max: 2n ** 60n }).map(String),
        anyText.map((text) => JSON.stringify(text)),
        fc.constantFrom('null', 'true', '"9007199254740993"', '"[9007199254740993"'),
        fc.array(tie('value')).map((items) => `[${items.join(',')}]`),
        fc.array(tie('value')).map((items) => `{${items.map((item, n) => `"m${n}":${item}`).join(',')}}`),
      ),
    }))
    fc.assert(
      fc.property(members.value, (text) => {
        expect(jsonText(parseJson(String(text)))).toBe(text)
      }),
    )
  })

  test.for([
    ['9007199254740993', 9007199254740993n],
    ['[-9007199254740993]', [-9007199254740993n]],
    ['{"id":\t12345678901234567890}', { id: 12345678901234567890n }],
    ['9007199254740991', 9007199254740991],
    ['1234567890.1234567', 1234567890.1234567],
    ['1e21', 1e21],
    // JSON.parse judges what only looks like a number.
    ['"12345678901234567890"', '12345678901234567890'],
    ['["a: 12345678901234567890"]', ['a: 12345678901234567890']],
  ] as const)('%s is read', ([text, value]) => {
    expect(parseJson(text)).toEqual(value)
  })

  test('that its reader cannot hold is refused', () => {
    const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
    expect(jsonText(parseJson(nested(200)))).toBe(nested(200))
    expect(() => parseJson(nested(201))).toThrow('it is nested more than 200 levels deep')
    expect(() => parseJson(nested(1_000_000))).toThrow(JsonLimitError)
    expect(() => parseJson('[1e400]')).toThrow('1e400 is out of range for a number')
    // Brackets within strings do not count, and escaped quotes do not end a string.
    const text = JSON.stringify(`\\"${'['.repeat(1000)}\\\\`)
    expect(jsonText(parseJson(`[${text}]`))).toBe(`[${text}]`)
  })

  test('that is incomplete is reported by the engine', () => {
    for (const text of ['', '{', '"', '"\\', '[1', '[9007199254740993'])
      expect(() => parseJson(text)).toThrow(SyntaxError)
    const cycle: unknown[] = []
    cycle.push(cycle)
    expect(() => jsonText(cycle)).toThrow(TypeError)
    expect(jsonText(undefined)).toBe('null')
  })

  test('has integers of up to 1,000 digits', { tags: ['slow'] }, () => {
    const digits = '7'.repeat(1000)
    expect(parseJson(`{"a":[-${digits}]}`)).toEqual({ a: [-BigInt(digits)] })
    expect(() => parseJson(`[${digits}7]`)).toThrow('it has an integer of more than 1000 digits')
    expect(() => parseJson('1'.repeat(20_000_000))).toThrow(JsonLimitError)
    // Strings and fractions may have any number of digits.
    expect(parseJson(`["${digits}7",12345678901234567890]`)).toEqual([`${digits}7`, 12345678901234567890n])
    expect(parseJson(`[0.${digits}7,1e2]`)).toEqual([0.7777777777777778, 100])
  })
})

test('neither a list nor null is an object of JSON', () => {
  expect([{}, { a: null }, [], [{}], null, '{}'].map(isJsonObject)).toEqual([
    true,
    true,
    ...Array(4).fill(false),
  ])
})
